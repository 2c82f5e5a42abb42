import CMartletColumns

/// The texts of up to `ColumnBlock.capacity` consecutive rows in one column, as UTF-8. A block never changes.
// Sendable: the memory is written in `init` only.
final class TextBlock: @unchecked Sendable {
    let count: Int
    /// The rows with a text. Nil if all rows have one.
    let present: [UInt64]?
    private let isASCII: Bool
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    /// For each row, the offset in `bytes` at which its text ends.
    private let ends: UnsafeMutableBufferPointer<Int>

    init(_ buffer: ColumnBuffer) {
        count = buffer.slots.count
        present = buffer.slots.contains { $0 != .value } ? buffer.bitmap(of: .value) : nil
        bytes = .allocate(capacity: buffer.bytes.count)
        ends = .allocate(capacity: buffer.ends.count)
        _ = bytes.initialize(from: buffer.bytes)
        _ = ends.initialize(from: buffer.ends)
        isASCII = bytes.baseAddress.map { cmartlet_is_ascii($0, buffer.bytes.count) != 0 } ?? true
    }

    deinit {
        bytes.deallocate()
        ends.deallocate()
    }

    /// The number of bytes that the block occupies in memory.
    var byteCount: Int { 128 + bytes.count + 8 * ends.count + (present.map { 32 + 8 * $0.count } ?? 0) }

    func isPresent(_ row: Int) -> Bool { present.map { $0[row / 64] & 1 << UInt64(row % 64) != 0 } ?? true }

    /// The text of a row. The buffer is valid while the block exists. Empty for a row without a text.
    func text(at row: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[(row == 0 ? 0 : ends[row - 1])..<ends[row]])
    }

    /// Writes the bitmap of the rows for which `matches` returns true. The argument of `matches` is the text of the
    /// row.
    func select(_ bits: UnsafeMutablePointer<UInt64>, where matches: (UnsafeBufferPointer<UInt8>) -> Bool) {
        var start = 0
        for word in 0..<(count + 63) / 64 {
            var found: UInt64 = 0
            for row in 64 * word..<min(64 * word + 64, count) {
                let end = ends[row]
                if matches(UnsafeBufferPointer(rebasing: bytes[start..<end])) { found |= 1 << UInt64(row % 64) }
                start = end
            }
            bits[word] = found
        }
    }

    /// Writes the bitmap of the rows whose text contains a pattern. The pattern is not empty.
    func select(containing pattern: [UInt8], _ bits: UnsafeMutablePointer<UInt64>) {
        if let bytes = bytes.baseAddress { select(containing: pattern, in: bytes, bits) }
    }

    /// Writes the bitmap of the rows whose text contains a pattern. The search ignores diacritics, case, or both. ASCII
    /// texts have no diacritics, so they are searched without folding.
    ///
    /// - Parameters:
    ///   - pattern: the bytes of the folded pattern, which is not empty.
    ///   - matches: called for each text that is not ASCII. Returns true if the text contains the pattern.
    func select(
        containingFolded pattern: [UInt8], ignoresCase: Bool, _ bits: UnsafeMutablePointer<UInt64>,
        matches: (UnsafeBufferPointer<UInt8>) -> Bool
    ) {
        guard let bytes = bytes.baseAddress else { return select(containing: pattern, bits) }
        if ignoresCase {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: self.bytes.count) { lowercased in
                guard let target = lowercased.baseAddress else { return }
                cmartlet_lowercase(bytes, lowercased.count, target)
                select(containing: pattern, in: target, bits)
            }
        } else {
            select(containing: pattern, in: bytes, bits)
        }
        if isASCII { return }
        for row in 0..<count {
            let text = text(at: row)
            guard let start = text.baseAddress, cmartlet_is_ascii(start, text.count) == 0 else { continue }
            let bit = UInt64(1) << UInt64(row % 64)
            if matches(text) { bits[row / 64] |= bit } else { bits[row / 64] &= ~bit }
        }
    }

    private func select(
        containing pattern: [UInt8], in bytes: UnsafePointer<UInt8>, _ bits: UnsafeMutablePointer<UInt64>
    ) {
        for word in 0..<(count + 63) / 64 { bits[word] = 0 }
        guard let ends = ends.baseAddress else { return }
        pattern.withUnsafeBufferPointer {
            cmartlet_select_containing(bytes, ends, count, $0.baseAddress, pattern.count, bits)
        }
    }
}
