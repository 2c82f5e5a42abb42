/// Consecutive elements that have equal flags, and that either are all new or have consecutive old positions.
struct CollectionSegment: Sendable {
    /// The old position of the first element, or nil if the elements are new.
    var oldPosition: Int?
    var count: Int
    var isModified = false
    /// True if other elements were written to the positions of these elements. Such positions count as modified.
    var isReplaced = false
    /// True if a move put the elements here.
    var isMoved = false

    /// The part of the segment that begins with its element `offset`.
    func suffix(from offset: Int) -> CollectionSegment {
        var part = self
        part.oldPosition = oldPosition.map { $0 + offset }
        part.count = count - offset
        return part
    }

    /// The part of the segment with its first `length` elements.
    func prefix(_ length: Int) -> CollectionSegment {
        var part = self
        part.count = length
        return part
    }
}

/// The segments of a collection in order. The segments are stored in groups, with the number of elements in each group.
/// So even if there are many segments, an edit usually changes only one group.
struct CollectionSegments: Sendable {
    private static let groupSize = 128

    private var groups: [[CollectionSegment]]
    /// The number of elements in each group.
    private var lengths: [Int]
    /// The number of elements of the collection.
    private(set) var count: Int

    init(_ segment: CollectionSegment) {
        groups = segment.count > 0 ? [[segment]] : []
        lengths = segment.count > 0 ? [segment.count] : []
        count = segment.count
    }

    /// All segments in order.
    var segments: [CollectionSegment] { groups.flatMap { $0 } }

    /// Inserts a segment before a position, which is at most `count`.
    mutating func insert(_ segment: CollectionSegment, at position: Int) {
        if groups.isEmpty {
            self = CollectionSegments(segment)
            return
        }
        var (group, index, offset) = place(of: position)
        if offset > 0, index < groups[group].count {
            let whole = groups[group][index]
            if whole.oldPosition == nil && segment.oldPosition == nil {
                groups[group][index].count += segment.count
                changeLength(of: group, by: segment.count)
                return
            }
            groups[group][index] = whole.prefix(offset)
            groups[group].insert(whole.suffix(from: offset), at: index + 1)
            index += 1
        }
        if segment.oldPosition == nil, index > 0, groups[group][index - 1].oldPosition == nil {
            groups[group][index - 1].count += segment.count
        } else {
            groups[group].insert(segment, at: index)
        }
        changeLength(of: group, by: segment.count)
        divideIfLong(group)
    }

    /// Removes and returns `length` elements, beginning at a position.
    mutating func remove(at position: Int, length: Int) -> [CollectionSegment] {
        var removed: [CollectionSegment] = []
        var remaining = length
        while remaining > 0 {
            let (group, index, offset) = place(of: position)
            let whole = groups[group][index]
            let taken = min(remaining, whole.count - offset)
            var rest: [CollectionSegment] = []
            if offset > 0 { rest.append(whole.prefix(offset)) }
            if offset + taken < whole.count { rest.append(whole.suffix(from: offset + taken)) }
            groups[group].replaceSubrange(index..<(index + 1), with: rest)
            removed.append(whole.suffix(from: offset).prefix(taken))
            changeLength(of: group, by: -taken)
            remaining -= taken
            if groups[group].isEmpty {
                groups.remove(at: group)
                lengths.remove(at: group)
            } else {
                divideIfLong(group)
            }
        }
        return removed
    }

    /// Marks `length` elements as modified, beginning at a position. New elements are not marked.
    mutating func markModified(at position: Int, length: Int, isReplaced: Bool) {
        var position = position
        let end = position + length
        while position < end {
            let (group, index, offset) = place(of: position)
            let whole = groups[group][index]
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
            groups[group].replaceSubrange(index..<(index + 1), with: parts)
            divideIfLong(group)
        }
    }

    /// Finds the group that contains a position, the index of the segment in the group, and the offset in the segment.
    /// For the position after the last element, returns the place after the last segment.
    private func place(of position: Int) -> (group: Int, index: Int, offset: Int) {
        var offset = position
        var group = 0
        while group + 1 < lengths.count, offset >= lengths[group] {
            offset -= lengths[group]
            group += 1
        }
        var index = 0
        while index < groups[group].count, offset >= groups[group][index].count {
            offset -= groups[group][index].count
            index += 1
        }
        return (group, index, offset)
    }

    private mutating func changeLength(of group: Int, by growth: Int) {
        lengths[group] += growth
        count += growth
    }

    private mutating func divideIfLong(_ group: Int) {
        if groups[group].count <= 2 * CollectionSegments.groupSize { return }
        let upper = Array(groups[group][CollectionSegments.groupSize...])
        groups[group].removeSubrange(CollectionSegments.groupSize...)
        let upperLength = upper.reduce(0) { $0 + $1.count }
        groups.insert(upper, at: group + 1)
        lengths[group] -= upperLength
        lengths.insert(upperLength, at: group + 1)
    }
}
