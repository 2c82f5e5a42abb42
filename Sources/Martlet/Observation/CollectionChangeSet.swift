import MartletEngine

/// The difference between two states of a collection.
///
/// Applied as deletions, insertions and modifications, in this order, it turns the old collection into the new one. An
/// element that moved is a deletion and an insertion, and listed in `moves` besides.
public struct CollectionChangeSet: Sendable, Hashable {
    /// An element that changed its place.
    public struct Move: Sendable, Hashable {
        /// Its position in the old collection.
        public let from: Int
        /// Its position in the new collection.
        public let to: Int
    }

    /// Positions in the collection as it was at the observer's previous call, ascending.
    public let deletions: [Int]
    /// Positions in the collection as it is now, ascending.
    public let insertions: [Int]
    /// Old positions of elements that stayed and changed, ascending.
    public let modifications: [Int]
    /// New positions of the same elements, in the same order.
    public let modificationsInNew: [Int]
    /// Elements that changed their place, ascending by old position: the same ones, though they may be modified besides. What was
    /// replaced by another element and then moved is a deletion and an insertion only.
    public let moves: [Move]

    private let past: Past

    /// The elements that were deleted, as they were: read when asked for, from the version before.
    ///
    /// Known to observers of `observeChanges` and in `changes`; empty elsewhere, and where that version cannot be read.
    public var deletedElements: [DeletedElement] {
        past.elements.map { past.kind?.read($0) ?? [] } ?? []
    }

    /// What was deleted is no part of a difference: positions say all.
    private struct Past: Sendable, Hashable {
        let elements: PastElements?
        let kind: DeletedElement.Kind?

        static func == (_: Past, _: Past) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    init(_ change: CollectionChange, _ elements: PastElements? = nil, _ kind: DeletedElement.Kind? = nil) {
        past = Past(elements: elements, kind: kind)
        deletions = change.deletions
        insertions = change.insertions
        modifications = change.modifications
        modificationsInNew = change.modificationsNew
        // A place that was given another element and then moved holds what was not there before.
        moves = change.moves.filter { !$0.isReplaced }.map { Move(from: $0.from, to: $0.to) }
    }
}

/// What happened to a collection.
public enum RealmCollectionChange<Collection> {
    /// The collection is there; always the first call.
    case initial(Collection)
    /// Deletions and modifications are positions in the collection as it was at the previous call, insertions in the
    /// collection as it is now, each ascending: applied in this order they turn the old collection into the new one.
    case update(Collection, deletions: [Int], insertions: [Int], modifications: [Int])
    case error(any Error)
}

/// What happened to a collection, with moves and the new positions of modified elements.
public enum DetailedCollectionChange<Collection> {
    /// The collection is there; always the first call.
    case initial(Collection)
    case update(Collection, CollectionChangeSet)
    case error(any Error)
}

/// One call of a collection's observer.
public enum _CollectionEvent {
    case initial
    case update(CollectionChangeSet)
    case failure(any Error)
}
