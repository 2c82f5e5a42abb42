/// Converts the offsets that libyaml reports, which count Unicode scalars, to offsets in bytes.
struct ScalarIndex {
    private static let stride = 64

    private let bytes: [UInt8]
    /// The byte offset of every 64th scalar; empty if the whole text is ASCII.
    private var checkpoints: [Int] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.contains(where: { $0 >= 0x80 }) else { return }
        var scalar = 0
        for (offset, byte) in bytes.enumerated() where byte & 0xC0 != 0x80 {
            if scalar % Self.stride == 0 { checkpoints.append(offset) }
            scalar += 1
        }
    }

    /// - Complexity: O(1).
    func offset(ofScalar scalar: Int) -> Int {
        guard !checkpoints.isEmpty else { return min(scalar, bytes.count) }
        let checkpoint = scalar / Self.stride
        guard checkpoint < checkpoints.count else { return bytes.count }
        var offset = checkpoints[checkpoint]
        var remaining = scalar % Self.stride
        while remaining > 0, offset < bytes.count {
            offset += 1
            while offset < bytes.count, bytes[offset] & 0xC0 == 0x80 { offset += 1 }
            remaining -= 1
        }
        return offset
    }
}
