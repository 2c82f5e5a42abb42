package import MartletSQLite

/// Makes a file synchronized: the changes of some types are recorded for upload.
package struct SyncOptions: Sendable {
    /// The names of the types whose objects are synchronized. Embedded types are not named, because an embedded object
    /// is synchronized as a part of its owner.
    package var types: Set<String>
    package var recorder: any OutboxRecorder

    package init(types: Set<String>, recorder: any OutboxRecorder) {
        self.types = types
        self.recorder = recorder
    }
}

/// Records changes for upload, in the transaction that makes them.
package protocol OutboxRecorder: AnyObject, Sendable {
    /// Called before a transaction with changes is committed, on the thread that commits. The caller holds the write
    /// lock. The writes of this method are committed together with the transaction. If this method throws, the
    /// transaction is rolled back.
    func record(_ changes: CommittingChanges) throws
}

/// The changes of a transaction that is about to be committed, with access to the data before and after them.
///
/// An instance that `OutboxRecorder.record` gets must be used only inside that method. The method may pass `connection`
/// to methods of the engine.
package final class CommittingChanges {
    package let schema: DatabaseSchema
    /// The changes of all types, also of types that are not synchronized.
    package let changes: ChangeSet
    /// The connection of the transaction.
    package let connection: Connection
    private let coordinator: StoreCoordinator
    private let types: Set<String>
    /// A connection with the version before the transaction; nil until it is needed.
    private var previous: Connection?

    init(_ changes: ChangeSet, _ sync: SyncOptions, _ coordinator: StoreCoordinator, _ connection: Connection) {
        self.changes = changes
        self.coordinator = coordinator
        self.connection = connection
        types = sync.types
        schema = coordinator.schema
    }

    /// An instance without changes, which reads the version of a snapshot. It must be used only while the connection has
    /// this snapshot.
    package init(reading coordinator: StoreCoordinator, _ connection: Connection) {
        self.changes = ChangeSet()
        self.coordinator = coordinator
        self.connection = connection
        types = coordinator.options.sync?.types ?? []
        schema = coordinator.schema
    }

    /// The path of the file, for errors.
    package var path: String { coordinator.path }

    package func isSynced(_ type: ObjectTypeSchema) -> Bool { types.contains(type.name) }

    /// Calls `body` with a connection that reads the version before the transaction.
    func readPrevious<R>(_ body: (Connection) throws -> R) throws -> R {
        if let previous { return try body(previous) }
        let connection = try coordinator.takeConnection()
        previous = connection
        // This process holds the write lock, so the newest committed version is the version before this transaction.
        try connection.run("BEGIN")
        return try body(connection)
    }

    func end() {
        if let previous { coordinator.returnConnection(previous) }
        previous = nil
    }
}

extension StoreOptions {
    /// The format of a file that is opened for writing.
    var format: Int64 { sync == nil || isReadOnly ? Catalog.format : Catalog.syncedFormat }

    /// The error for a synchronized file that is opened for writing without synchronization.
    func formatError(for format: Int64) -> EngineError? {
        guard format == Catalog.syncedFormat, sync == nil, !isReadOnly else { return nil }
        return EngineError(
            .incompatibleConfiguration, path: path,
            "the file is synchronized, and changes that are made without synchronization would not be uploaded; nothing "
                + "was written; open it with its synchronization, or with 'readOnly'")
    }
}
