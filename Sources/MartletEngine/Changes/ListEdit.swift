/// One edit of a collection. Its positions refer to the collection at the time of the edit.
package enum ListEdit: Sendable, Hashable {
    /// Inserts `count` new elements before position `at`.
    case insert(at: Int, count: Int)
    /// Removes `count` elements, beginning at position `at`.
    case remove(at: Int, count: Int)
    /// Overwrites `count` elements, beginning at position `at`.
    case replace(at: Int, count: Int = 1)
    /// Removes the element at `from`, and inserts it again so that its new position is `to`.
    case move(from: Int, to: Int)
    /// Removes all `oldCount` elements.
    case clear(oldCount: Int)
    /// Exchanges the elements at two positions.
    case swap(Int, Int)

    /// The number of elements by which the edit makes the collection longer. Negative if the edit makes the collection
    /// shorter.
    package var growth: Int {
        switch self {
        case .insert(_, let count): count
        case .remove(_, let count): -count
        case .clear(let oldCount): -oldCount
        case .replace, .move, .swap: 0
        }
    }

    /// True if the edit changes nothing.
    var isNoOp: Bool {
        switch self {
        case .insert(_, let count), .remove(_, let count), .replace(_, let count): count <= 0
        case .move(let from, let to): from == to
        case .clear(let oldCount): oldCount <= 0
        case .swap(let left, let right): left == right
        }
    }

    /// The result of joining two consecutive edits.
    enum Joined {
        case separate
        case one(ListEdit)
        case nothing
    }

    /// Joins this edit with the next edit if the two together have the same effect as a single edit, or no effect.
    func joined(with next: ListEdit) -> Joined {
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.insertionsJoinedTooFar), case .insert(let at, let count) = self,
                case .insert(let nextAt, let nextCount) = next, nextAt == at + count + 1
            {
                return .one(.insert(at: at, count: count + nextCount))
            }
        #endif
        switch (self, next) {
        case (.insert(let at, let count), .insert(let nextAt, let nextCount))
        where at <= nextAt && nextAt <= at + count:
            return .one(.insert(at: at, count: count + nextCount))
        case (.insert(let at, let count), .remove(let nextAt, let nextCount))
        where at <= nextAt && nextAt + nextCount <= at + count:
            return count == nextCount ? .nothing : .one(.insert(at: at, count: count - nextCount))
        case (.insert(let at, let count), .replace(let nextAt, let nextCount))
        where at <= nextAt && nextAt + nextCount <= at + count:
            return .one(self)
        case (.remove(let at, let count), .remove(let nextAt, let nextCount))
        where nextAt <= at && at <= nextAt + nextCount:
            return .one(.remove(at: nextAt, count: count + nextCount))
        case (.replace(let at, let count), .replace(let nextAt, let nextCount))
        where nextAt <= at + count && at <= nextAt + nextCount:
            let start = min(at, nextAt)
            return .one(.replace(at: start, count: max(at + count, nextAt + nextCount) - start))
        default:
            return .separate
        }
    }
}

/// The edits of one collection in the order in which they were made.
///
/// Consecutive edits that have the same effect as one edit are stored as one edit. So 100,000 appended elements are a
/// single edit. A removal of all elements replaces all edits before it.
package struct ListEditScript: Sendable, Hashable {
    /// The edits. No two consecutive edits can be joined.
    package private(set) var edits: [ListEdit] = []

    /// The number of elements by which all edits together make the collection longer. Negative if they make the
    /// collection shorter.
    package private(set) var growth = 0

    /// Creates a script without edits.
    package init() {}

    /// Creates a script of the given edits.
    package init(_ edits: [ListEdit]) {
        for edit in edits { append(edit) }
    }

    /// True if there are no edits. A script with edits may still change nothing, because edits that cancel each other
    /// out are not always removed.
    package var isEmpty: Bool { edits.isEmpty }

    /// Adds an edit.
    ///
    /// Complexity: amortised O(1).
    package mutating func append(_ edit: ListEdit) {
        if case .clear(let oldCount) = edit {
            clear(oldCount: oldCount)
            return
        }
        if edit.isNoOp { return }
        growth += edit.growth
        var edit = edit
        while let last = edits.last {
            switch last.joined(with: edit) {
            case .separate:
                edits.append(edit)
                return
            case .one(let joined):
                edits.removeLast()
                edit = joined
            case .nothing:
                edits.removeLast()
                return
            }
        }
        edits.append(edit)
    }

    /// Adds the edits of a later version.
    package mutating func append(contentsOf later: ListEditScript) {
        for edit in later.edits { append(edit) }
    }

    /// Replaces all edits with one edit: the removal of the elements that existed before the first edit.
    private mutating func clear(oldCount: Int) {
        let countAtStart = max(0, oldCount - growth)
        edits = countAtStart > 0 ? [.clear(oldCount: countAtStart)] : []
        growth = -countAtStart
    }
}
