import MartletValues

/// Groups rows with equal values. The groups are numbered in the order of their first rows.
///
/// A caller adds the values of a row one after the other, and then ends the row. Two rows belong to the same group if
/// all their values have the same storage class and the same bytes. Negative zero counts as zero.
struct ValueGroups {
    /// The number of groups.
    private(set) var count = 0
    /// The values of all groups, encoded as words. `ends` contains the end of the words of each group.
    private var words: [UInt64] = []
    private var ends: [Int] = []
    private var hashes: [UInt64] = []
    /// A hash table of groups with linear probing. An empty slot contains -1. The number of slots is a power of two.
    private var slots = [Int32](repeating: -1, count: 16)
    /// The words of the row that is being added.
    private var row: [UInt64] = []
    /// The group of the last row. It is compared first, because consecutive rows often have equal values.
    private var last = -1
    private let seed = UInt64.random(in: 0 ... .max)

    private enum Class: UInt64 {
        case null, integer, real, text, blob
    }

    mutating func add(integer: Int64) {
        row.append(Class.integer.rawValue)
        row.append(UInt64(bitPattern: integer))
    }

    mutating func add(real: Double) {
        row.append(Class.real.rawValue)
        row.append(real == 0 ? 0 : real.bitPattern)
    }

    mutating func addNull() { row.append(Class.null.rawValue) }

    mutating func add(text: UnsafeRawBufferPointer) { add(text, .text) }

    mutating func add(_ value: UnownedValue) {
        switch value {
        case .null: addNull()
        case .integer(let number): add(integer: number)
        case .real(let number): add(real: number)
        case .text(let bytes): add(bytes, .text)
        case .blob(let bytes): add(bytes, .blob)
        }
    }

    // The first word contains the number of bytes, so different values have different words.
    private mutating func add(_ bytes: UnsafeRawBufferPointer, _ class: Class) {
        row.append(`class`.rawValue | UInt64(bytes.count) << 8)
        var offset = 0
        while offset + 8 <= bytes.count {
            row.append(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        guard offset < bytes.count else { return }
        // The word contains the remaining bytes in their order, and then zeros.
        var word: UInt64 = 0
        withUnsafeMutableBytes(of: &word) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset...])) }
        row.append(word)
    }

    /// Ends a row. Returns the number of its group, and true if no earlier row belongs to the group.
    mutating func endRow() -> (group: Int, isNew: Bool) {
        defer { row.removeAll(keepingCapacity: true) }
        if last >= 0, isRow(last) { return (last, false) }
        var hash = seed
        for word in row {
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
        }
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] >= 0 {
            let group = Int(slots[slot])
            if hashes[group] == hash, isRow(group) {
                last = group
                return (group, false)
            }
            slot = (slot + 1) & mask
        }
        slots[slot] = Int32(count)
        words += row
        ends.append(words.count)
        hashes.append(hash)
        last = count
        count += 1
        if count * 2 > slots.count { grow() }
        return (last, true)
    }

    /// The values that the rows of a group have.
    func values(of group: Int) -> [SQLValue] {
        var values: [SQLValue] = []
        var position = group == 0 ? 0 : ends[group - 1]
        while position < ends[group] {
            let (word, next) = (words[position], position + 1)
            let count = Int(word >> 8)
            switch Class(rawValue: word & 0xFF) {
            case nil, .null: values.append(.null)
            case .integer: values.append(.integer(Int64(bitPattern: words[next])))
            case .real: values.append(.real(Double(bitPattern: words[next])))
            case .text: values.append(.text(String(decoding: bytes(at: next, count: count), as: UTF8.self)))
            case .blob: values.append(.blob(bytes(at: next, count: count)))
            }
            switch Class(rawValue: word & 0xFF) {
            case nil, .null: position = next
            case .integer, .real: position = next + 1
            case .text, .blob: position = next + (count + 7) / 8
            }
        }
        return values
    }

    private func bytes(at start: Int, count: Int) -> [UInt8] {
        words[start..<(start + (count + 7) / 8)].withUnsafeBytes { Array($0.prefix(count)) }
    }

    private func isRow(_ group: Int) -> Bool {
        let start = group == 0 ? 0 : ends[group - 1]
        guard ends[group] - start == row.count else { return false }
        for offset in row.indices where words[start + offset] != row[offset] { return false }
        return true
    }

    private mutating func grow() {
        let mask = slots.count * 2 - 1
        slots = [Int32](repeating: -1, count: mask + 1)
        for (group, hash) in hashes.enumerated() {
            var slot = Int(truncatingIfNeeded: hash) & mask
            while slots[slot] >= 0 { slot = (slot + 1) & mask }
            slots[slot] = Int32(group)
        }
    }
}
