/// Thrown if bytes are not an encoding that `ByteWriter` can produce.
package struct MalformedBytes: Error {
    package init() {}
}

/// Writes numbers in a compact binary form.
package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func byte(_ value: UInt8) {
        bytes.append(value)
    }

    package mutating func append(_ content: some Collection<UInt8>) {
        bytes.append(contentsOf: content)
    }

    package mutating func append(_ content: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: content)
    }

    /// Writes a number with seven bits per byte, lowest bits first (LEB128). The highest bit of each byte is set,
    /// except in the last byte.
    package mutating func varint(_ value: UInt64) {
        var rest = value
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    package mutating func count(_ value: Int) {
        varint(UInt64(value))
    }

    /// Writes a signed number in zigzag encoding, in which numbers close to zero take few bytes.
    package mutating func signed(_ value: Int64) {
        varint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    /// Writes a number and a flag. The flag is stored in the lowest bit; the number can use all 64 bits.
    package mutating func flagged(_ value: UInt64, _ flag: Bool) {
        let first = UInt8(value & 0x3F) << 1 | (flag ? 1 : 0)
        if value <= 0x3F {
            bytes.append(first)
        } else {
            bytes.append(first | 0x80)
            varint(value >> 6)
        }
    }
}

/// Reads the bytes that a `ByteWriter` has written. The methods throw if they find bytes that a `ByteWriter` never
/// writes.
package struct ByteReader {
    private let bytes: [UInt8]
    private var offset = 0

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The number of bytes that have not been read yet.
    package var remaining: Int { bytes.count - offset }

    package mutating func byte() throws(MalformedBytes) -> UInt8 {
        guard offset < bytes.count else { throw MalformedBytes() }
        defer { offset += 1 }
        return bytes[offset]
    }

    package mutating func varint() throws(MalformedBytes) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            if shift == 63 && next > 1 { throw MalformedBytes() }
            value |= UInt64(next & 0x7F) << shift
            if next & 0x80 == 0 {
                // A trailing zero byte is rejected, so that each number has only one valid encoding.
                if next == 0 && shift > 0 { throw MalformedBytes() }
                return value
            }
            shift += 7
        }
    }

    /// Reads `count` bytes.
    package mutating func bytes(_ count: Int) throws(MalformedBytes) -> ArraySlice<UInt8> {
        guard count >= 0, count <= remaining else { throw MalformedBytes() }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    /// Reads a number that is at most `limit`.
    package mutating func count(upTo limit: Int) throws(MalformedBytes) -> Int {
        let value = try varint()
        guard value <= UInt64(limit) else { throw MalformedBytes() }
        return Int(value)
    }

    package mutating func signed() throws(MalformedBytes) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: (value >> 1) ^ (0 &- (value & 1)))
    }

    package mutating func flagged() throws(MalformedBytes) -> (value: UInt64, flag: Bool) {
        let first = try byte()
        let low = UInt64(first >> 1 & 0x3F)
        if first & 0x80 == 0 { return (low, first & 1 == 1) }
        let high = try varint()
        guard high > 0, high <= UInt64.max >> 6 else { throw MalformedBytes() }
        return (high << 6 | low, first & 1 == 1)
    }
}
