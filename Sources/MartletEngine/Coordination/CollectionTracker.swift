import MartletSQLite
import MartletValues

/// The merged change set of the commits between two versions, and the previous rows that are still in memory.
package typealias VersionChanges = (changes: ChangeSet, oldRows: RowImages)

/// Computes the changes of one collection from version to version. A tracker does not store the current state of the
/// collection, so a step can be computed in the background and discarded.
package protocol CollectionTracker: Sendable {
    /// The state of the collection at a version.
    associatedtype State: TrackedState
    /// The difference between two states.
    associatedtype Change: TrackedChange

    /// The row that owns the collection; nil for a result over all objects of a class.
    var owner: CollectionOwner? { get }

    /// The state of the collection at a snapshot.
    func state(_ handle: SnapshotHandle) throws -> State

    /// The state at a later snapshot, and the difference between both states. If `changes` is nil, the changes are
    /// unknown. The states are then compared in full, and every element that is in both states counts as modified.
    func advance(
        _ old: State, _ changes: VersionChanges?, _ handle: SnapshotHandle
    ) throws -> (state: State, change: Change)

    /// The elements that a change deletes. `old` and `handle` belong to the version before the change.
    func removedElements(_ change: Change, _ old: State, _ handle: SnapshotHandle) throws -> [RemovedElement]
}

extension CollectionTracker {
    /// The state that the initial notification delivers. If the owner was deleted after the registration of the
    /// observer, the collection is invalidated, even if a new row has the same key as the owner.
    package func firstState(_ changes: VersionChanges?, _ handle: SnapshotHandle) throws -> State {
        if let owner, changes?.changes.tables[owner.table]?.deleted.contains(owner.key) == true { return .invalidated }
        return try state(handle)
    }
}

/// The row that has the collection as a property. For linking objects, the row to which these objects link.
package struct CollectionOwner: Sendable {
    package let table: TableID
    package let key: ObjectKey

    package init(table: TableID, key: ObjectKey) {
        self.table = table
        self.key = key
    }
}

package protocol TrackedState: Sendable {
    /// The state of a collection whose owner was deleted.
    static var invalidated: Self { get }
    /// True if the owner was deleted. The collection of a later row with the same key is another collection.
    var isInvalidated: Bool { get }
}

package protocol TrackedChange: Sendable {
    /// True if there is nothing to deliver.
    var isEmpty: Bool { get }
}

extension CollectionChange: TrackedChange {}

extension QueryDependencies {
    /// The changes that count as a modification of an element. With key paths, these are the changes that the key paths
    /// name. Without key paths, these are all changes of the element and of objects up to three links away.
    init(observing keyPaths: [PropertyPath]?, _ table: TableID, _ schema: DatabaseSchema) throws(ResolvedPath.Failure) {
        if let keyPaths {
            try self.init(keyPaths: keyPaths, table: table, schema)
        } else {
            self.init(depth: 4, table: table, schema)
        }
    }

    /// The changes that count as a modification of an object in an `any` collection, by table. Such a collection can
    /// contain objects of all types. A key path is ignored for types that do not have its properties.
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
    /// Combines deleted elements with their rows. If `table` is nil, the elements are values and have no rows.
    func removedElements(
        _ elements: [(position: Int, element: SQLValue)], _ table: TableID?, _ connection: Connection
    ) throws -> [RemovedElement] {
        try elements.map { position, element in
            guard let table, case .integer(let key) = element else {
                return RemovedElement(position: position, element: element, row: nil)
            }
            let row = try StoredRow(key, self[table].layout, connection)
            return RemovedElement(position: position, element: element, row: row)
        }
    }
}

extension SnapshotHandle {
    /// True if the row exists.
    func hasRow(_ key: ObjectKey, _ layout: TableLayout) throws -> Bool {
        try read {
            try $0.integer("SELECT 1 FROM \(layout.table) WHERE \(layout.keyColumn) = ?1", [.integer(key)]) == 1
        }
    }
}
