/// Consecutive elements with consecutive old positions and equal state.
struct CollectionSegment: Sendable {
    /// The old position of the first element, or nil if the elements are new.
    var oldPosition: Int?
    var count: Int
    var isModified = false
    /// True if these elements were overwritten by others. This counts as a modification of the elements at their
    /// positions.
    var isReplaced = false
    /// True if a move put the elements here.
    var isMoved = false

    /// The part from element `offset` on.
    func suffix(from offset: Int) -> CollectionSegment {
        var part = self
        part.oldPosition = oldPosition.map { $0 + offset }
        part.count = count - offset
        return part
    }

    /// The first `length` elements.
    func prefix(_ length: Int) -> CollectionSegment {
        var part = self
        part.count = length
        return part
    }
}

/// The segments of a collection in order. They are stored in chunks of known length, so an edit of a collection with
/// many segments touches one chunk.
struct CollectionSegments: Sendable {
    private static let chunkSize = 128

    private var chunks: [[CollectionSegment]]
    /// The number of elements in each chunk.
    private var lengths: [Int]
    /// The number of elements.
    private(set) var count: Int

    init(_ segment: CollectionSegment) {
        chunks = segment.count > 0 ? [[segment]] : []
        lengths = segment.count > 0 ? [segment.count] : []
        count = segment.count
    }

    /// All segments in order.
    var segments: [CollectionSegment] { chunks.flatMap { $0 } }

    /// Inserts a segment before a position, which is at most `count`.
    mutating func insert(_ segment: CollectionSegment, at position: Int) {
        if chunks.isEmpty {
            self = CollectionSegments(segment)
            return
        }
        var (chunk, index, offset) = place(of: position)
        if offset > 0, index < chunks[chunk].count {
            let whole = chunks[chunk][index]
            if whole.oldPosition == nil && segment.oldPosition == nil {
                chunks[chunk][index].count += segment.count
                extend(chunk, by: segment.count)
                return
            }
            chunks[chunk][index] = whole.prefix(offset)
            chunks[chunk].insert(whole.suffix(from: offset), at: index + 1)
            index += 1
        }
        if segment.oldPosition == nil, index > 0, chunks[chunk][index - 1].oldPosition == nil {
            chunks[chunk][index - 1].count += segment.count
        } else {
            chunks[chunk].insert(segment, at: index)
        }
        extend(chunk, by: segment.count)
        divideIfLong(chunk)
    }

    /// Removes `length` elements from a position on and returns them.
    mutating func remove(at position: Int, length: Int) -> [CollectionSegment] {
        var removed: [CollectionSegment] = []
        var remaining = length
        while remaining > 0 {
            let (chunk, index, offset) = place(of: position)
            let whole = chunks[chunk][index]
            let taken = min(remaining, whole.count - offset)
            var rest: [CollectionSegment] = []
            if offset > 0 { rest.append(whole.prefix(offset)) }
            if offset + taken < whole.count { rest.append(whole.suffix(from: offset + taken)) }
            chunks[chunk].replaceSubrange(index..<(index + 1), with: rest)
            removed.append(whole.suffix(from: offset).prefix(taken))
            extend(chunk, by: -taken)
            remaining -= taken
            if chunks[chunk].isEmpty {
                chunks.remove(at: chunk)
                lengths.remove(at: chunk)
            } else {
                divideIfLong(chunk)
            }
        }
        return removed
    }

    /// Marks `length` elements from a position on as modified. New elements are not marked.
    mutating func markModified(at position: Int, length: Int, isReplaced: Bool) {
        var position = position
        let end = position + length
        while position < end {
            let (chunk, index, offset) = place(of: position)
            let whole = chunks[chunk][index]
            let marked = min(end - position, whole.count - offset)
            position += marked
            if whole.oldPosition == nil || whole.isModified && (whole.isReplaced || !isReplaced) { continue }
            var parts: [CollectionSegment] = []
            if offset > 0 { parts.append(whole.prefix(offset)) }
            var part = whole.suffix(from: offset).prefix(marked)
            part.isModified = true
            part.isReplaced = isReplaced || part.isReplaced
            parts.append(part)
            if offset + marked < whole.count { parts.append(whole.suffix(from: offset + marked)) }
            chunks[chunk].replaceSubrange(index..<(index + 1), with: parts)
            divideIfLong(chunk)
        }
    }

    /// The chunk that contains an element, the segment in the chunk, and the offset in the segment. For the position
    /// after the last element, the place after the last segment.
    private func place(of position: Int) -> (chunk: Int, index: Int, offset: Int) {
        var offset = position
        var chunk = 0
        while chunk + 1 < lengths.count, offset >= lengths[chunk] {
            offset -= lengths[chunk]
            chunk += 1
        }
        var index = 0
        while index < chunks[chunk].count, offset >= chunks[chunk][index].count {
            offset -= chunks[chunk][index].count
            index += 1
        }
        return (chunk, index, offset)
    }

    private mutating func extend(_ chunk: Int, by growth: Int) {
        lengths[chunk] += growth
        count += growth
    }

    private mutating func divideIfLong(_ chunk: Int) {
        if chunks[chunk].count <= 2 * CollectionSegments.chunkSize { return }
        let upper = Array(chunks[chunk][CollectionSegments.chunkSize...])
        chunks[chunk].removeSubrange(CollectionSegments.chunkSize...)
        let upperLength = upper.reduce(0) { $0 + $1.count }
        chunks.insert(upper, at: chunk + 1)
        lengths[chunk] -= upperLength
        lengths.insert(upperLength, at: chunk + 1)
    }
}
