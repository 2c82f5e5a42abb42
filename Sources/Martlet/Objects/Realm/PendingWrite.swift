import MartletEngine

/// The changes of the open write that are not yet stored in the file, and the state that a rollback needs.
struct PendingWrite {
    /// Accessors with values that were assigned in the open write and are not yet stored.
    var objects: [ObjectBase] = []
    /// Lists, sets and maps that were changed in the open write and are not yet stored.
    var collections: [CollectionCore] = []
    /// The accessors and collections whose rows the open transaction has deleted. A rollback restores them.
    var deleted = DeletedAccessors()
    /// The denials of deletions in the open write, which a later change of the same write may remove.
    var denials = DeletionDenials()
    /// The number of rows that the open write has deleted.
    var deletionCount = 0
    /// The rows whose deletion has begun, and has called observers. No link to them can be stored any more.
    var rowsBeingDeleted: Set<RowID> = []
    /// The error that prevents the open write from being stored. Its commit throws the error.
    var failure: EngineError?
    /// The number of the open or the last write. Each write of a group has its own number.
    private(set) var number: UInt32 = 0
    /// The number of the first write of the transaction.
    private(set) var firstNumber: UInt32 = 0
    /// The last placeholder key, for an object that was added after a failure.
    private var lastPlaceholderKey = ObjectKey.min

    var isEmpty: Bool { objects.isEmpty && collections.isEmpty }

    /// Assigns a number to a write that begins.
    mutating func begin(isFirst: Bool) {
        number &+= 1
        if isFirst { firstNumber = number }
        deletionCount = 0
    }

    /// Discards the changes that are not stored, because the write is being rolled back.
    mutating func discard() {
        failure = nil
        denials = DeletionDenials()
        for object in objects { object._dirty = 0 }
        for collection in collections { collection.discardElements() }
        objects = []
        collections = []
    }

    /// A unique key for an object that will not be stored, because the write has failed.
    mutating func placeholderKey(_ table: ObjectTable) -> ObjectKey {
        repeat { lastPlaceholderKey &+= 1 } while table.identity.object(lastPlaceholderKey) != nil
        return lastPlaceholderKey
    }
}
