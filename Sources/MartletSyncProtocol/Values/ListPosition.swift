/// The place of an element in a synchronized list: a string of bytes that sorts between the positions of the
/// neighboring elements (fractional indexing).
///
/// A client can insert elements without a connection, because the positions of the other elements do not change. Each
/// position ends with the number of an upload and the number of the client that created the position. So two clients
/// never create the same position, and a client does not use the position of a removed element again. Positions are
/// compared byte by byte, as PostgreSQL compares `bytea` and as SQLite compares blobs.
package struct ListPosition: Sendable, Hashable, Comparable {
    package let bytes: [UInt8]

    /// Creates a position from stored or received bytes. Returns nil if the bytes are empty, end with zero, or are too
    /// many.
    package init?(_ bytes: some BidirectionalCollection<UInt8>) {
        guard let last = bytes.last, last != 0, bytes.count <= Self.maximumLength else { return nil }
        self.bytes = Array(bytes)
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// The greatest number of bytes. `init(_:)` returns nil for a longer position. If a client inserts 100,000 elements
    /// one by one at the same place, the positions have about 20 bytes.
    package static let maximumLength = 4_096

    /// False if the position has more than `maximumLength` bytes. Readers refuse such a position. Positions become this
    /// long only if very many elements are inserted between the same two elements.
    package var isShortEnough: Bool { bytes.count <= Self.maximumLength }

    package static func < (left: ListPosition, right: ListPosition) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// Returns `count` new positions in increasing order, all of them between two existing positions.
    ///
    /// All new positions begin with the bytes of the first new position. So if two clients insert several elements at
    /// the same place, the elements of each client stay together.
    ///
    /// - Parameters:
    ///   - lower: the position of the previous element; nil at the beginning of the list.
    ///   - upper: the position of the next element; nil at the end of the list. Greater than `lower`.
    ///   - client: the number of the client that inserts the elements.
    ///   - upload: the number of the upload that contains the insertion; nil if the number of the client is enough to
    ///     make the positions unique.
    package static func between(
        _ lower: ListPosition?, _ upper: ListPosition?, count: Int = 1, client: UInt64, upload: UInt64? = nil
    ) -> [ListPosition] {
        precondition(lower.map { lower in upper.map { lower < $0 } ?? true } ?? true, "positions are not in order")
        let tag = (upload.map { Self.tag(of: $0) } ?? []) + Self.tag(of: client)
        let first = Self.first(lower?.bytes ?? [], upper?.bytes) + tag
        var found: [ListPosition] = []
        found.reserveCapacity(count)
        var digits: [UInt8] = []
        for number in 0..<count {
            found.append(ListPosition(unchecked: number == 0 ? first : first + digits + tag))
            digits = following(digits)
        }
        return found
    }

    /// Returns the number of a client or upload in base 255, most significant digit first. The digits are the bytes 1
    /// to 255, because a position must not end with the byte 0: no position lies between `[1]` and `[1, 0]`.
    private static func tag(of number: UInt64) -> [UInt8] {
        var (digits, rest): ([UInt8], UInt64) = ([], number)
        repeat {
            digits.append(UInt8(rest % 255) + 1)
            rest /= 255
        } while rest > 0
        return digits.reversed()
    }

    // Returns the first bytes of a position between `lower` and `upper`. The caller appends a tag. `lower` is empty at
    // the beginning of the list, and `upper` is nil at the end.
    private static func first(_ lower: [UInt8], _ upper: [UInt8]?) -> [UInt8] {
        guard let upper else { return following(lower) }
        if lower.isEmpty { return preceding(upper) ?? midpoint(lower, upper) }
        return stepped(lower, upper) ?? midpoint(lower, upper)
    }

    // Returns the bytes of a position before `first`, the first position of the list. The bytes are 128 - length,
    // followed by a number that has this length in bytes, most significant byte first. So a longer number sorts before
    // a shorter number. Returns nil if this function finds no such position before `first`.
    private static func preceding(_ first: [UInt8]) -> [UInt8]? {
        guard first[0] <= 127 else { return [127, 255] }
        let length = 128 - Int(first[0])
        guard length <= 8, first.count > length else { return nil }
        var digits = Array(first[1...length])
        for index in digits.indices.reversed() {
            if digits[index] > 0 {
                digits[index] -= 1
                return [first[0]] + digits
            }
            digits[index] = 255
        }
        // All digits were 0.
        return length < 8 ? [first[0] - 1] + Array(repeating: 255, count: length + 1) : nil
    }

    // Returns the bytes of a position that is a small step away from the longer of the two neighbors. The longer
    // neighbor is probably the newer one, because many programs insert one element after another at the same place.
    // Returns nil if the bytes of the longer neighbor leave no room for the step.
    private static func stepped(_ lower: [UInt8], _ upper: [UInt8]) -> [UInt8]? {
        func byte(_ bytes: [UInt8], _ index: Int) -> Int { index < bytes.count ? Int(bytes[index]) : 0 }
        let isUp = lower.count > upper.count
        let neighbor = isUp ? lower : upper
        guard lower.count != upper.count,
            let difference = neighbor.indices.first(where: { byte(lower, $0) != byte(upper, $0) })
        else { return nil }
        // The result has the same bytes as the longer neighbor up to the first byte that differs between the neighbors.
        // Only later bytes change. So the result remains between the two neighbors when bytes are appended to it.
        // `index` is the first later byte that can still be increased (or decreased).
        var index = difference + 1
        while byte(neighbor, index) == (isUp ? 255 : 0) {
            index += 1
            if index >= neighbor.count && !isUp { return nil }
        }
        var bytes = (0...index + 1).map { byte(neighbor, $0) }
        bytes[index + 1] += isUp ? stepSize : -stepSize
        if !(0...255).contains(bytes[index + 1]) {
            bytes[index + 1] += isUp ? -256 : 256
            bytes[index] += isUp ? 1 : -1
        }
        return bytes.map(UInt8.init)
    }

    /// The size of the step of `stepped`. A size above 1 leaves room for later insertions between two elements that
    /// were inserted one after the other.
    private static let stepSize = 4

    // Returns the first bytes of a position after `last`. The bytes are 128 + length, followed by a number that has
    // this length in bytes, most significant byte first. So a longer number sorts after a shorter number.
    private static func following(_ last: [UInt8]) -> [UInt8] {
        let first = last.first.map(Int.init) ?? 128
        guard first >= 129, first <= 136, last.count > first - 128 else {
            // `last` does not begin with such bytes. If its first byte is less than 129, [129, 1] is greater.
            if first < 129 { return [129, 1] }
            // Otherwise the new position consists of all bytes of `last` and the tag, so it is greater than `last`.
            return last
        }
        let length = first - 128
        var digits = Array(last[1...length])
        for index in digits.indices.reversed() {
            if digits[index] < .max {
                digits[index] += 1
                return [UInt8(first)] + digits
            }
            digits[index] = 0
        }
        // All digits were 255.
        guard length < 8 else { return last }
        return [UInt8(first + 1), 1] + Array(repeating: 0, count: length)
    }

    // Returns bytes strictly between two byte strings. The result is not a prefix of `upper`, so it remains less than
    // `upper` when bytes are appended. The result does not end with zero.
    private static func midpoint(_ lower: [UInt8], _ upper: [UInt8]?) -> [UInt8] {
        var middle: [UInt8] = []
        var upper = upper
        var index = 0
        while true {
            let low = index < lower.count ? Int(lower[index]) : 0
            // 256 if there is no upper bound for this byte.
            let high = upper.map { index < $0.count ? Int($0[index]) : 0 } ?? 256
            if high - low > 1 {
                middle.append(UInt8(low + (high - low) / 2))
                return middle
            }
            middle.append(UInt8(low))
            // If this byte is less than the byte of the upper bound, the following bytes have no upper bound.
            if high - low == 1 { upper = nil }
            index += 1
        }
    }
}
