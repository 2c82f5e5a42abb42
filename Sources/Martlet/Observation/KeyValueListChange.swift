import Foundation
import MartletEngine

/// A change of a list for key-value observers: one kind of change with its positions.
struct KeyValueListChange {
    let kind: KeyValueChangeKind
    let indexes: IndexSet

    /// Nil if the change consists of several kinds of changes.
    init?(_ change: CollectionChange) {
        let isMoved = !change.moves.isEmpty
        let isPermutation =
            change.deletions.count == change.moves.count && change.insertions.count == change.moves.count
        switch (change.deletions.isEmpty, change.insertions.isEmpty, change.modifications.isEmpty) {
        case (true, false, true): (kind, indexes) = (.insertion, IndexSet(change.insertions))
        case (false, true, true): (kind, indexes) = (.removal, IndexSet(change.deletions))
        case (true, true, false): (kind, indexes) = (.replacement, IndexSet(change.modifications))
        default:
            // A move changes the element at every position between the old and the new position of the moved element.
            let ends = change.deletions + change.insertions
            guard isMoved, isPermutation, let first = ends.min(), let last = ends.max() else { return nil }
            #if MARTLET_SEEDED_BUGS
                let end = SeededBug.isOn(.lastOfRangeLeftOut) ? last - 1 : last
            #else
                let end = last
            #endif
            (kind, indexes) = (.replacement, IndexSet(integersIn: first...end).union(IndexSet(change.modifications)))
        }
    }
}
