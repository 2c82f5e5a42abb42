/// Computes the difference between a collection before and after a script of edits. The builder needs the old length of
/// the collection, but not its elements.
///
/// The builder stores the collection as segments of old or new elements, and replays the edits on them. Edits beyond
/// the end of the collection, which only damaged change sets contain, are clipped or ignored.
///
/// Complexity: for each edit, a scan over the groups of segments (see `CollectionSegments`).
package struct CollectionChangeBuilder: Sendable {
    private let oldCount: Int
    private var collection: CollectionSegments

    /// Creates a builder for a collection of `oldCount` elements without edits.
    package init(oldCount: Int) {
        precondition(oldCount >= 0, "the length of a collection is not negative")
        self.oldCount = oldCount
        collection = CollectionSegments(CollectionSegment(oldPosition: 0, count: oldCount))
    }

    /// The difference between a collection of `oldCount` elements before and after a script.
    package static func change(replaying script: ListEditScript, oldCount: Int) -> CollectionChange {
        var builder = CollectionChangeBuilder(oldCount: oldCount)
        builder.apply(script)
        return builder.finish()
    }

    /// The length of the collection after the edits that were applied so far.
    package var count: Int { collection.count }

    /// Replays all edits of a script.
    package mutating func apply(_ script: ListEditScript) {
        for edit in script.edits { apply(edit) }
    }

    /// Replays one edit.
    package mutating func apply(_ edit: ListEdit) {
        switch edit {
        case .insert(let at, let count):
            if count <= 0 { return }
            collection.insert(CollectionSegment(oldPosition: nil, count: count), at: max(0, min(at, self.count)))
        case .remove(let at, let count):
            guard let range = range(at: at, count: count) else { return }
            _ = collection.remove(at: range.lowerBound, length: range.count)
        case .replace(let at, let count):
            guard let range = range(at: at, count: count) else { return }
            collection.markModified(at: range.lowerBound, length: range.count, isReplaced: true)
        case .move(let from, let to):
            move(from: from, to: to)
        case .clear:
            collection = CollectionSegments(CollectionSegment(oldPosition: nil, count: 0))
        case .swap(let left, let right):
            let lower = min(left, right)
            let upper = max(left, right)
            if lower < 0 || upper >= count { return }
            move(from: upper, to: lower)
            move(from: lower + 1, to: upper)
        }
    }

    /// Records that the element at a position was modified. In contrast to `ListEdit.replace`, the position still
    /// contains the same element.
    package mutating func modify(at position: Int) {
        guard let range = range(at: position, count: 1) else { return }
        collection.markModified(at: range.lowerBound, length: 1, isReplaced: false)
    }

    /// The difference between the old collection and the collection after all edits.
    ///
    /// Complexity: O(segments + reported elements), and O(moved × log moved) for moves.
    package func finish() -> CollectionChange {
        var segments = collection.segments
        unmarkReturned(&segments)
        var change = CollectionChange()
        var oldPosition = 0
        var newPosition = 0
        for segment in segments {
            let positions = newPosition..<(newPosition + segment.count)
            newPosition = positions.upperBound
            guard let old = segment.oldPosition else {
                change.insertions.append(contentsOf: positions)
                continue
            }
            if segment.isMoved {
                change.insertions.append(contentsOf: positions)
                for (offset, position) in positions.enumerated() {
                    change.moves.append(
                        CollectionChange.Move(from: old + offset, to: position, isReplaced: segment.isReplaced))
                }
                continue
            }
            change.deletions.append(contentsOf: oldPosition..<old)
            oldPosition = old + segment.count
            if segment.isModified {
                change.modifications.append(contentsOf: old..<oldPosition)
                change.modificationsNew.append(contentsOf: positions)
            }
        }
        change.deletions.append(contentsOf: oldPosition..<oldCount)
        change.moves.sort { $0.from < $1.from }
        return change
    }

    private mutating func move(from: Int, to: Int) {
        guard from != to, from >= 0, to >= 0, max(from, to) < count else { return }
        for var segment in collection.remove(at: from, length: 1) {
            segment.isMoved = segment.oldPosition != nil
            collection.insert(segment, at: to)
        }
    }

    private func range(at start: Int, count length: Int) -> Range<Int>? {
        guard length > 0, start >= 0, start < count else { return nil }
        return start..<(start + min(length, count - start))
    }

    /// Clears `isMoved` of elements that have returned to their place between the unmoved elements. If these returned
    /// elements are in another order than before, clears `isMoved` only of a longest subsequence that is in the old
    /// order.
    private func unmarkReturned(_ segments: inout [CollectionSegment]) {
        guard segments.contains(where: { $0.isMoved }) else { return }
        var nextStays = [Int](repeating: oldCount, count: segments.count + 1)
        for index in segments.indices.reversed() {
            let stays = segments[index].isMoved ? nil : segments[index].oldPosition
            nextStays[index] = stays ?? nextStays[index + 1]
        }
        var returned: [(index: Int, old: Int)] = []
        var endOfStaying = 0
        for (index, segment) in segments.enumerated() {
            guard let old = segment.oldPosition else { continue }
            if !segment.isMoved {
                endOfStaying = old + segment.count
            } else if endOfStaying <= old && old < nextStays[index] {
                returned.append((index, old))
            }
        }
        let stays = IncreasingSubsequence.longest(of: returned.map { $0.old })
        for (position, stays) in zip(returned, stays) where stays { segments[position.index].isMoved = false }
    }
}
