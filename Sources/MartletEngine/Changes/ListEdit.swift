/// One edit of a collection, with positions as they are at the moment of the edit.
package enum ListEdit: Sendable, Hashable {
    /// Puts `count` new elements before position `at`.
    case insert(at: Int, count: Int)
    /// Takes out `count` elements from position `at` on.
    case remove(at: Int, count: Int)
    /// Writes `count` elements from position `at` on.
    case replace(at: Int, count: Int = 1)
    /// Takes the element out at `from` and puts it in so that it ends at `to`.
    case move(from: Int, to: Int)
    /// Takes out all elements, of which there are `oldCount`.
    case clear(oldCount: Int)
    /// Exchanges two elements.
    case swap(Int, Int)

    /// By how much the edit makes the collection longer.
    package var growth: Int {
        switch self {
        case .insert(_, let count): count
        case .remove(_, let count): -count
        case .clear(let oldCount): -oldCount
        case .replace, .move, .swap: 0
        }
    }

    /// Whether the edit does nothing.
    var isVoid: Bool {
        switch self {
        case .insert(_, let count), .remove(_, let count), .replace(_, let count): count <= 0
        case .move(let from, let to): from == to
        case .clear(let oldCount): oldCount <= 0
        case .swap(let left, let right): left == right
        }
    }

    /// What two edits, one right after the other, come to.
    enum Joined {
        case separate
        case one(ListEdit)
        case nothing
    }

    /// Joins this edit with the next one where both are equal to a single edit or to none.
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
/// Neighbouring edits that amount to one are kept as one, so that 100,000 appended elements are a single edit, and
/// clearing forgets what came before it.
package struct ListEditScript: Sendable, Hashable {
    /// The edits; no two neighbours could be joined.
    package private(set) var edits: [ListEdit] = []

    /// By how much all edits together make the collection longer.
    package private(set) var growth = 0

    /// A script without edits.
    package init() {}

    /// A script of the given edits.
    package init(_ edits: [ListEdit]) {
        for edit in edits { append(edit) }
    }

    /// Whether the collection is as it was.
    package var isEmpty: Bool { edits.isEmpty }

    /// Adds an edit.
    ///
    /// Complexity: amortised O(1).
    package mutating func append(_ edit: ListEdit) {
        if case .clear(let oldCount) = edit {
            clear(oldCount: oldCount)
            return
        }
        if edit.isVoid { return }
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

    /// Whatever happened before, all elements that were there at the start are gone now.
    private mutating func clear(oldCount: Int) {
        let countAtStart = max(0, oldCount - growth)
        edits = countAtStart > 0 ? [.clear(oldCount: countAtStart)] : []
        growth = -countAtStart
    }
}
