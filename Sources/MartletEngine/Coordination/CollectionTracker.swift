import MartletSQLite

/// What happened between two versions, with the old rows as far as they are in memory.
package typealias KnownChanges = (changes: ChangeSet, oldRows: RowImages)

/// Follows one collection from version to version. Pure: it keeps no state itself, so that a step can be worked out in
/// the background and thrown away.
package protocol CollectionTracker: Sendable {
    /// What is known of the collection at a version.
    associatedtype State: TrackedState
    /// How two states differ.
    associatedtype Change: TrackedChange

    /// The row that the collection belongs to; nil for objects of a class.
    var owner: CollectionOwner? { get }

    /// The state at a snapshot.
    func state(_ handle: SnapshotHandle) throws -> State

    /// The state at a later snapshot, and the difference. `changes` is nil when what happened is no longer known: then
    /// states are compared in full, and what is in both counts as modified.
    func advance(
        _ old: State, _ changes: KnownChanges?, _ handle: SnapshotHandle
    ) throws -> (state: State, change: Change)

    /// The elements that a change takes out, read from the version of the state before it.
    func past(_ change: Change, _ old: State, _ handle: SnapshotHandle) throws -> [PastElement]
}

extension CollectionTracker {
    /// The first state that is told. Where the owner was deleted after the registration the collection has ended, whatever
    /// has its key by now.
    package func firstState(_ changes: KnownChanges?, _ handle: SnapshotHandle) throws -> State {
        if let owner, changes?.changes.tables[owner.table]?.deleted.contains(owner.key) == true { return .over }
        return try state(handle)
    }
}

/// The row whose collection, or whose linking objects, the members are.
package struct CollectionOwner: Sendable {
    package let table: TableID
    package let key: ObjectKey

    package init(table: TableID, key: ObjectKey) {
        self.table = table
        self.key = key
    }
}

package protocol TrackedState: Sendable {
    /// That of a collection which is gone with its owner.
    static var over: Self { get }
    /// The owner is gone, and with it the collection: whatever comes later is another one.
    var isOver: Bool { get }
}

package protocol TrackedChange: Sendable {
    /// Whether there is nothing to tell.
    var isEmpty: Bool { get }
}

extension CollectionChange: TrackedChange {}

extension QueryDependencies {
    /// What counts as a modification of an element: what key paths name, or everything up to four objects deep.
    init(observing keyPaths: [PropertyPath]?, _ table: TableID, _ schema: DatabaseSchema) throws(ResolvedPath.Failure) {
        if let keyPaths {
            try self.init(keyPaths: keyPaths, table: table, schema)
        } else {
            self.init(depth: 4, table: table, schema)
        }
    }

    /// The same for the objects in values of any type, by their types. Key paths count for the types that have them.
    static func ofAny(
        observing keyPaths: [PropertyPath]?, _ schema: DatabaseSchema
    ) throws(ResolvedPath.Failure) -> [TableID: QueryDependencies] {
        var found: [TableID: QueryDependencies] = [:]
        for table in schema.tables.keys where !schema[table].type.isEmbedded {
            let own = keyPaths.map { paths in
                paths.flatMap { path in
                    (try? PropertyPath.observed(path.names, from: table, in: schema)) ?? []
                }
            }
            found[table] = try QueryDependencies(observing: own, table, schema)
        }
        return found
    }
}

extension DatabaseSchema {
    /// Elements with the rows that they are the keys of; values where no table is given.
    func past(
        _ elements: [(position: Int, element: SQLValue)], _ table: TableID?, _ connection: Connection
    ) throws -> [PastElement] {
        try elements.map { position, element in
            guard let table, case .integer(let key) = element else {
                return PastElement(position: position, element: element, row: nil)
            }
            let row = try StoredRow(key, self[table].layout, connection)
            return PastElement(position: position, element: element, row: row)
        }
    }
}

extension SnapshotHandle {
    /// Whether a row exists.
    func hasRow(_ key: ObjectKey, _ layout: TableLayout) throws -> Bool {
        try read {
            try $0.integer("SELECT 1 FROM \(layout.table) WHERE \(layout.keyColumn) = ?1", [.integer(key)]) == 1
        }
    }
}
