package import MartletSQLite

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
    /// Writes of this transaction that have ended and wait to be made durable, each a version of its own.
    private var sealed: [CommitLog.Entry] = []
    /// True while a write is open that can be taken back without those before it.
    private var hasSavepoint = false
    /// Whether the file has links in values of any type; nil until asked for.
    private var hasAnyLinks: Bool?
    /// The next free key of each table this transaction has inserted into.
    private var nextKeys: [TableID: ObjectKey] = [:]

    init(handle: SnapshotHandle, coordinator: StoreCoordinator) {
        handle.beginWriting()
        self.handle = handle
        self.coordinator = coordinator
        keepsOldRows = coordinator.isObserved
        oldRows = RowImages(wasKept: keepsOldRows)
    }

    deinit { abandon() }

    /// The version that the open write begins from, durable or sealed.
    package var baseVersion: Version { handle.version + Version(sealed.count) }

    /// The version that the transaction began from.
    package var firstVersion: Version { handle.version }

    /// How many writes were sealed.
    package var sealedCount: Int { sealed.count }

    /// A key for a new row of a table whose keys the runtime chooses. Keys are never used twice.
    package func nextKey(in table: TableID) throws -> ObjectKey {
        let key =
            try nextKeys[table]
            ?? handle.read {
                try $0.integer("SELECT next_key FROM martlet_types WHERE id = ?1", [.integer(Int64(table))]) ?? 1
            }
        // None is higher: `TableRebuild` and the keys that are given out before stay far from it.
        guard key < ObjectKey.max else {
            throw EngineError.damaged(
                "'martlet_types' has no next key for the type number \(table)", path: coordinator.path)
        }
        nextKeys[table] = key + 1
        return key
    }

    /// True when the file has an index of links in values of any type.
    package func hasAnyLinks(_ connection: Connection) throws -> Bool {
        if let hasAnyLinks { return hasAnyLinks }
        let found = try AnyLinkIndex.exists(connection)
        hasAnyLinks = found
        return found
    }

    /// The index of links in values of any type, made if there is none.
    package func createAnyLinks(_ connection: Connection) throws -> AnyLinkIndex {
        if try !hasAnyLinks(connection) { try AnyLinkIndex.create(connection) }
        hasAnyLinks = true
        return AnyLinkIndex(connection)
    }

    /// Makes the changes durable and returns the new version, pinned on the same connection.
    ///
    /// Every commit bumps the version row and stores its change set beside the data.
    /// - Throws: after a failure other than an unknown outcome the transaction has been rolled back. What is unknown is
    ///   whether it is there after a restart; in this process it is not, and the next commit takes its place for good.
    package func commit() throws(EngineError) -> (handle: SnapshotHandle, changes: ChangeSet) {
        do {
            try seal()
        } catch {
            throw abandoned(error)
        }
        let changes = sealed.last?.changes ?? ChangeSet()
        return (try commitSealed(), changes)
    }

    /// Makes the sealed writes durable, and throws as `commit` does.
    package func commitSealed() throws(EngineError) -> SnapshotHandle {
        precondition(isOpen && !sealed.isEmpty)
        coordinator.environment.yield(.beforeCommit)
        // Before the commit, so that whoever sees the new version finds its changes.
        for entry in sealed { coordinator.announce(entry) }
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.toldBeforeCommit) { coordinator.tellListeners(baseVersion, committer) }
        #endif
        do {
            try handle.read { try $0.run("COMMIT") }
        } catch {
            for entry in sealed.reversed() { coordinator.retract(entry.version) }
            let known = error as? SQLiteError
            throw abandoned(
                known.map { EngineError($0, path: coordinator.path, duringCommit: true) }
                    ?? EngineError.named(error, path: coordinator.path))
        }
        isOpen = false
        coordinator.environment.yield(.afterCommit)
        return try coordinator.finishCommit(baseVersion, handle, committer)
    }

    // MARK: Several writes in one transaction

    /// Ends the open write as the next version, to be made durable with others. After a failure it is still open.
    package func seal() throws(EngineError) {
        precondition(isOpen)
        let changes = recorder.finish()
        let version = baseVersion + 1
        try EngineError.naming(coordinator.path) {
            try handle.read { connection in
                try UniqueValues(coordinator.schema, connection).check(changes)
                try prepare(connection, version, changes)
                if hasSavepoint { try connection.run("RELEASE martlet_write") }
            }
        }
        hasSavepoint = false
        sealed.append(CommitLog.Entry(version: version, changes: changes, oldRows: oldRows))
        forget()
    }

    /// Begins another write after those that are sealed.
    package func beginNext() throws(EngineError) {
        precondition(isOpen && !sealed.isEmpty)
        try EngineError.naming(coordinator.path) { try handle.read { try $0.run("SAVEPOINT martlet_write") } }
        hasSavepoint = true
    }

    /// Takes the open write back, and leaves those that are sealed. After a failure nothing of the transaction is left.
    package func cancelNext() throws(EngineError) {
        precondition(isOpen && hasSavepoint)
        try EngineError.naming(coordinator.path) {
            try handle.read { connection in
                try connection.run("ROLLBACK TO martlet_write")
                try connection.run("RELEASE martlet_write")
            }
        }
        hasSavepoint = false
        // The index of these links may have been made by the write that was taken back.
        #if MARTLET_SEEDED_BUGS
            if !SeededBug.isOn(.anyLinksOfCancelled) { hasAnyLinks = nil }
        #else
            hasAnyLinks = nil
        #endif
        forget()
    }

    private func forget() {
        recorder = ChangeRecorder()
        oldRows = RowImages(wasKept: keepsOldRows)
    }

    /// All that was changed since the transaction began.
    package func allChanges() -> ChangeSet { ChangeSet.merging(sealed.map(\.changes) + [recorder.finish()]) }

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
        return handle.takeConnection()
    }

    private func abandoned(_ error: EngineError) -> EngineError {
        abandon()
        return error
    }

    /// Takes back what has not ended yet. The lock goes to the next writer whatever has failed.
    package func abandon() {
        if isOpen && !coordinator.isInherited { _ = try? cancel() }
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
