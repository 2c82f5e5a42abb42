import MartletEngine

/// The difference between two states of a collection.
///
/// The modifications, deletions and insertions, applied in this order, convert the old collection to the new
/// collection. An element that moved is reported as a deletion and an insertion, and additionally in `moves`.
public struct CollectionChangeSet: Sendable, Hashable {
    /// An element that changed its position.
    public struct Move: Sendable, Hashable {
        /// The position of the element in the old collection.
        public let from: Int
        /// The position of the element in the new collection.
        public let to: Int
    }

    /// Positions of deleted elements in the collection at the observer's previous call, ascending.
    public let deletions: [Int]
    /// Positions of inserted elements in the current collection, ascending.
    public let insertions: [Int]
    /// Old positions of elements that remained and changed, ascending.
    public let modifications: [Int]
    /// New positions of the elements in `modifications`, in the same order.
    public let modificationsInNew: [Int]
    /// Elements that changed their position, ascending by old position. A moved element can be modified too. If an
    /// element was replaced and its replacement was then moved, only a deletion and an insertion are reported.
    public let moves: [Move]

    private let deletedElementSource: DeletedElementSource

    /// The deleted elements as they were before the change. They are read from the previous version when this property
    /// is accessed.
    ///
    /// Available with `observeChanges` and `changes`. Empty in all other notifications, and if the previous version
    /// cannot be read.
    public var deletedElements: [DeletedElement] {
        deletedElementSource.elements.map { deletedElementSource.schema?.read($0) ?? [] } ?? []
    }

    /// The source of the deleted elements. All sources are equal, so comparisons of change sets compare only positions.
    private struct DeletedElementSource: Sendable, Hashable {
        let elements: RemovedElementsReader?
        let schema: DeletedElement.ElementSchema?

        static func == (_: DeletedElementSource, _: DeletedElementSource) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    init(
        _ change: CollectionChange, _ elements: RemovedElementsReader? = nil,
        _ schema: DeletedElement.ElementSchema? = nil
    ) {
        deletedElementSource = DeletedElementSource(elements: elements, schema: schema)
        deletions = change.deletions
        insertions = change.insertions
        modifications = change.modifications
        modificationsInNew = change.modificationsNew
        // If an element was replaced and its replacement was then moved, the replacement has no old position.
        moves = change.moves.filter { !$0.isReplaced }.map { Move(from: $0.from, to: $0.to) }
    }
}

/// A change of a collection.
public enum RealmCollectionChange<Collection> {
    /// The initial collection; always the first call.
    case initial(Collection)
    /// Deletions and modifications are positions in the collection at the previous call. Insertions are positions in
    /// the current collection. Each array is ascending. The modifications, deletions and insertions, applied in this
    /// order, convert the old collection to the new collection.
    case update(Collection, deletions: [Int], insertions: [Int], modifications: [Int])
    case error(any Error)
}

/// A change of a collection, with moves and the new positions of modified elements.
public enum DetailedCollectionChange<Collection> {
    /// The initial collection; always the first call.
    case initial(Collection)
    case update(Collection, CollectionChangeSet)
    case error(any Error)
}

/// A notification that the observer of a collection receives.
public enum _CollectionEvent {
    case initial
    case update(CollectionChangeSet)
    case failure(any Error)
}
