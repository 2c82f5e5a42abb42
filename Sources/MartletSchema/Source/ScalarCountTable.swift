/// The number of Unicode scalars before every 1024th byte of a text. With this table, the column of a byte in a long
/// line can be computed without counting from the start of the line.
struct ScalarCountTable: Sendable {
    /// The counts of the scalars in a range of bytes.
    struct Count {
        var scalars = 0
        /// The number of scalars of four bytes. Such a scalar has two UTF-16 code units.
        var wide = 0

        init() {}

        init(_ bytes: ArraySlice<UInt8>) {
            for byte in bytes {
                if byte & 0xC0 != 0x80 { scalars += 1 }
                if byte >= 0xF0, byte <= 0xF4 { wide += 1 }
            }
        }

        static func + (left: Count, right: Count) -> Count {
            var sum = left
            sum.scalars += right.scalars
            sum.wide += right.wide
            return sum
        }
    }

    private static let stride = 1024
    private static let longLine = 4 * stride

    private var blocks: [Count] = []

    /// Creates the table. The result is nil for a text without long lines, because counting is fast enough there.
    init?(_ bytes: [UInt8], lineStarts: [Int]) {
        let ends = lineStarts.dropFirst() + [bytes.count]
        guard zip(lineStarts, ends).contains(where: { $1 - $0 > Self.longLine }) else { return nil }
        var sum = Count()
        for start in Swift.stride(from: 0, to: bytes.count, by: Self.stride) {
            blocks.append(sum)
            sum = sum + Count(bytes[start..<min(bytes.count, start + Self.stride)])
        }
        blocks.append(sum)
    }

    /// The counts of a range of the bytes from which the table was created.
    func count(_ range: Range<Int>, in bytes: [UInt8]) -> Count {
        let first = (range.lowerBound + Self.stride - 1) / Self.stride
        let last = range.upperBound / Self.stride
        guard first < last else { return Count(bytes[range]) }
        var middle = blocks[last]
        middle.scalars -= blocks[first].scalars
        middle.wide -= blocks[first].wide
        return Count(bytes[range.lowerBound..<first * Self.stride]) + middle
            + Count(bytes[last * Self.stride..<range.upperBound])
    }
}
