import MartletEngine
import MartletSyncProtocol

/// The elements of a list while the edits of a transaction are applied to it. Each slot is one element, and contains
/// the position that the element had before the transaction.
struct ListSlots {
    struct Slot {
        /// Nil for an element that the transaction has inserted or moved. `assignPositions` assigns a position to it.
        var position: ListPosition?
        /// True if the transaction has replaced the element by another value.
        var isReplaced = false
    }

    private(set) var slots: [Slot]
    /// The positions of the elements that were removed or moved.
    private(set) var removed: [ListPosition] = []

    init(_ positions: [ListPosition]) { slots = positions.map { Slot(position: $0) } }

    /// Applies edits in their order. Returns false if an index of an edit is outside of the list.
    mutating func apply(_ edits: [ListEdit]) -> Bool {
        for edit in edits where !apply(edit) { return false }
        return true
    }

    private mutating func apply(_ edit: ListEdit) -> Bool {
        switch edit {
        case .insert(let at, let count):
            guard at >= 0, at <= slots.count else { return false }
            slots.insert(contentsOf: repeatElement(Slot(), count: count), at: at)
        case .remove(let at, let count):
            guard at >= 0, at + count <= slots.count else { return false }
            remove(at..<at + count)
        case .replace(let at, let count):
            guard at >= 0, at + count <= slots.count else { return false }
            for index in at..<at + count { slots[index].isReplaced = true }
        case .move(let from, let to):
            guard slots.indices.contains(from), slots.indices.contains(to) else { return false }
            // A move is treated as a removal and an insertion.
            remove(from..<from + 1)
            slots.insert(Slot(), at: to)
        case .swap(let left, let right):
            guard slots.indices.contains(left), slots.indices.contains(right) else { return false }
            slots[left].isReplaced = true
            slots[right].isReplaced = true
        case .clear: remove(slots.startIndex..<slots.endIndex)
        }
        return true
    }

    private mutating func remove(_ range: Range<Int>) {
        removed += slots[range].compactMap(\.position)
        slots.removeSubrange(range)
    }

    /// Removes all elements, and inserts `count` new elements.
    mutating func reset(count: Int) {
        remove(slots.startIndex..<slots.endIndex)
        slots = Array(repeating: Slot(), count: count)
    }

    /// Assigns positions to the elements that have none.
    ///
    /// - Parameters:
    ///   - known: all positions of the list before the transaction, in ascending order. They include the positions of
    ///     elements that are not shown (see `StoredPosition`).
    ///   - make: returns the given number of positions between two existing positions. Nil stands for the beginning or
    ///     the end of the list.
    /// - Returns: The indices of the elements that got a position.
    mutating func assignPositions(
        known: [ListPosition], _ make: (ListPosition?, ListPosition?, Int) -> [ListPosition]
    ) -> [Int] {
        var new: [Int] = []
        var index = 0
        while index < slots.count {
            guard slots[index].position == nil else {
                index += 1
                continue
            }
            let end = slots[index...].firstIndex { $0.position != nil } ?? slots.count
            let before = index > 0 ? slots[index - 1].position : nil
            let (lower, upper): (ListPosition?, ListPosition?) =
                if end == slots.count {
                    (known.last, nil)
                } else if let before {
                    // The list may have an element that is not shown directly after `before`. The new elements are
                    // placed between `before` and this element.
                    (before, known.first { before < $0 })
                } else {
                    (nil, known.first)
                }
            let positions = make(lower, upper, end - index)
            for (offset, position) in positions.enumerated() {
                slots[index + offset].position = position
                new.append(index + offset)
            }
            index = end
        }
        return new
    }
}
