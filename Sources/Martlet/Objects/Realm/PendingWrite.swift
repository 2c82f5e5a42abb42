import MartletEngine

/// The changes of the open write that are not yet stored in the file, and the state that a rollback needs.
struct PendingWrite {
    /// Accessors with values that were assigned in the open write and are not yet stored.
    private(set) var objects: [ObjectBase] = []
    /// For each accessor, the assigned properties from index 63 on, which share the last bit of the word `_dirty`. Few
    /// types have so many properties.
    private var furtherProperties: [ObjectIdentifier: ColumnSet] = [:]
    /// Lists, sets and maps that were changed in the open write and are not yet stored.
    var collections: [CollectionCore] = []
    /// The accessors and collections whose rows the open transaction has deleted. A rollback restores them.
    var deleted = DeletedAccessors()
    /// The deletions in the open write that a deletion rule of the schema denies. A later change of the same write may
    /// remove the reason for a denial.
    var denials = DeletionDenials()
    /// The number of rows that the open write has deleted.
    var deletionCount = 0
    /// The rows that are being deleted. Their key-value observers were already called. An attempt to link to such a row
    /// traps.
    var rowsBeingDeleted: Set<RowID> = []
    /// The error that prevents the open write from being stored. The commit of the write throws this error.
    var failure: EngineError?
    /// The number of the open write or, if no write is open, of the last write. Each write of a group has its own
    /// number.
    private(set) var number: UInt32 = 0
    /// The number of the first write of the transaction.
    private(set) var firstNumber: UInt32 = 0
    /// The last key that `placeholderKey` has returned.
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
        removeAll()
    }

    /// Empties the lists of changes that are not stored.
    mutating func removeAll() {
        objects = []
        furtherProperties = [:]
        collections = []
    }

    /// Records that a property of an accessor was assigned.
    mutating func add(_ object: ObjectBase, _ property: PropertyIndex) {
        if object._dirty == 0 { objects.append(object) }
        object._dirty |= PropertyMask.bit(property)
        if PropertyMask.isFurther(property) {
            furtherProperties[ObjectIdentifier(object), default: []].insert(property)
        }
    }

    /// Removes and returns the accessors with values to store, in the order of their rows. Also returns the assigned
    /// properties that share the last bit of `_dirty`.
    mutating func takeObjects() -> (objects: [ObjectBase], furtherProperties: [ObjectIdentifier: ColumnSet]) {
        let sorted = objects.sorted { ($0._table?.id ?? 0, $0._key) < ($1._table?.id ?? 0, $1._key) }
        defer {
            objects = []
            furtherProperties = [:]
        }
        return (sorted, furtherProperties)
    }

    /// A unique key for an object that will not be stored, because the write has failed.
    mutating func placeholderKey(_ table: ObjectTable) -> ObjectKey {
        repeat { lastPlaceholderKey &+= 1 } while table.identity.object(lastPlaceholderKey) != nil
        return lastPlaceholderKey
    }
}
