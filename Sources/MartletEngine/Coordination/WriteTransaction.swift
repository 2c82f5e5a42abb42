import MartletSQLite

/// An open write transaction: the write lock, a connection inside `BEGIN IMMEDIATE`, and what has been touched.
/// Confined to the Realm that began it.
package final class WriteTransaction {
    /// Reads and writes of the transaction go through this handle; its version is the one before the write.
    package private(set) var handle: SnapshotHandle
    package var recorder = ChangeRecorder()
    package var oldRows: RowImages
    /// True when some Realm of the process observes: then the rows from before are worth keeping.
    package let keepsOldRows: Bool
    package let coordinator: StoreCoordinator
    /// The Realm that writes: listeners tell its commits from others'.
    package var committer: ObjectIdentifier?
    private var isOpen = true
    /// The next free key of each table this transaction has inserted into.
    private var nextKeys: [TableID: ObjectKey] = [:]

    init(handle: SnapshotHandle, coordinator: StoreCoordinator) {
        self.handle = handle
        self.coordinator = coordinator
        keepsOldRows = coordinator.isObserved
        oldRows = RowImages(wasKept: keepsOldRows)
    }

    deinit { abandon() }

    package var baseVersion: Version { handle.version }

    /// A key for a new row of a table whose keys the runtime chooses. Keys are never used twice.
    package func nextKey(in table: TableID) throws -> ObjectKey {
        let key =
            try nextKeys[table]
            ?? handle.read {
                try $0.integer("SELECT next_key FROM martlet_types WHERE id = ?1", [.integer(Int64(table))]) ?? 1
            }
        nextKeys[table] = key + 1
        return key
    }

    /// Makes the changes durable and returns the new version, pinned on the same connection.
    ///
    /// Every commit bumps the version row and stores its change set beside the data.
    /// - Throws: after a failure other than an unknown outcome the transaction has been rolled back. What is unknown is
    ///   whether it is there after a restart; in this process it is not, and the next commit takes its place for good.
    package func commit() throws(EngineError) -> (handle: SnapshotHandle, changes: ChangeSet) {
        precondition(isOpen)
        let changes = recorder.finish()
        let version = baseVersion + 1
        coordinator.environment.yield(.beforeCommit)
        // Before the commit, so that whoever sees the new version finds its changes.
        coordinator.announce(CommitLog.Entry(version: version, changes: changes, oldRows: oldRows))
        do {
            try handle.read { try prepare($0, version, changes) }
        } catch {
            coordinator.retract(version)
            throw abandoned(EngineError.named(error, path: coordinator.path))
        }
        do {
            try handle.read { try $0.run("COMMIT") }
        } catch let error as SQLiteError {
            coordinator.retract(version)
            throw abandoned(EngineError(error, path: coordinator.path, duringCommit: true))
        } catch {
            coordinator.retract(version)
            throw abandoned(EngineError.named(error, path: coordinator.path))
        }
        isOpen = false
        coordinator.environment.yield(.afterCommit)
        let newHandle = try coordinator.finishCommit(version, handle, committer)
        return (newHandle, changes)
    }

    private func prepare(_ connection: Connection, _ version: Version, _ changes: ChangeSet) throws {
        try connection.run("UPDATE martlet_meta SET version = ?1 WHERE id = 1", [.integer(Int64(bitPattern: version))])
        try storeNextKeys(connection)
        let bytes = ChangeSetCodec.encode(changes)
        let stored: SQLValue = bytes.count <= Self.storedLimit ? .blob(bytes) : .null
        try connection.run(
            "INSERT INTO martlet_changes VALUES (?1, ?2)", [.integer(Int64(bitPattern: version)), stored])
        let oldest = Int64(bitPattern: version) - Int64(coordinator.environment.changeRetention)
        if oldest > 0 { try connection.run("DELETE FROM martlet_changes WHERE version <= ?1", [.integer(oldest)]) }
    }

    private func storeNextKeys(_ connection: Connection) throws {
        for (table, key) in nextKeys {
            try connection.run(
                "UPDATE martlet_types SET next_key = ?1 WHERE id = ?2", [.integer(key), .integer(Int64(table))])
        }
    }

    /// Writes what only a commit writes, for one that is made by whoever lent the connection.
    func finishWriting() throws { try handle.read { try storeNextKeys($0) } }

    /// Ends it for whoever lent the connection, who commits or rolls back.
    func giveBack() -> Connection? {
        isOpen = false
        return handle.surrender()
    }

    private func abandoned(_ error: EngineError) -> EngineError {
        abandon()
        return error
    }

    /// Takes back what has not ended yet. The lock goes to the next writer whatever has failed.
    package func abandon() {
        if isOpen { _ = try? cancel() }
    }

    /// Takes everything back and returns the version from before, pinned.
    package func cancel() throws(EngineError) -> SnapshotHandle {
        precondition(isOpen)
        isOpen = false
        return try coordinator.finishCancel(handle)
    }

    /// Change sets above this size are not stored: other processes compare in full instead.
    static let storedLimit = 1 << 20
}
