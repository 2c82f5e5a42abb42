package import MartletSQLite
import MartletValues

/// An open write transaction: the write lock, a connection in a write transaction of SQLite, and the changes so far.
/// Only the Realm that began the transaction uses it.
package final class WriteTransaction {
    /// The handle through which the transaction reads and writes. Its version is the version before the transaction.
    @exclusivity(unchecked) package private(set) var handle: SnapshotHandle
    @exclusivity(unchecked) private var changeRecorder = ChangeRecorder()
    @exclusivity(unchecked) private var oldRowImages: RowImages
    /// True if a Realm of the process has observers. The transaction then stores the previous rows for them.
    package let keepsOldRows: Bool
    package let coordinator: StoreCoordinator
    /// True if the transaction writes downloaded data. Its changes are not recorded for upload. Unique values are not
    /// checked, because the service has checked the downloaded values. So a value can repeat only in a local object
    /// that is not uploaded yet.
    package var isDownload = false
    /// The Realm that writes, so that a listener can recognize its own commits.
    package var committer: ObjectIdentifier?
    private var isOpen = true
    private var handleAfterRollback: SnapshotHandle?
    /// The sealed writes of this transaction: writes that are finished but not yet durable. Each sealed write has its
    /// own version.
    private var sealed: [CommitLog.Entry] = []
    /// True while the open write can be cancelled without cancelling the sealed writes.
    private var hasSavepoint = false
    /// True if the file has an index of links in `AnyRealmValue` values; nil before the first query.
    private var hasAnyLinks: Bool?
    /// The next key of each table into which this transaction has inserted.
    private var nextKeys: [TableID: ObjectKey] = [:]
    /// The outcome of the open write, for each row that this write has inserted and to which a reference refers.
    private var openOutcomes: [RowID: WriteOutcome] = [:]
    /// The outcomes of the sealed writes.
    private var sealedOutcomes: [WriteOutcome] = []

    init(handle: SnapshotHandle, coordinator: StoreCoordinator) {
        handle.beginWriting()
        self.handle = handle
        self.coordinator = coordinator
        keepsOldRows = coordinator.isObserved
        oldRowImages = RowImages(isStored: keepsOldRows)
    }

    deinit { abandon() }

    // These two properties are computed, because other modules would check each access to a stored property for
    // exclusivity.

    package var recorder: ChangeRecorder {
        _read { yield changeRecorder }
        _modify { yield &changeRecorder }
    }

    package var oldRows: RowImages {
        _read { yield oldRowImages }
        _modify { yield &oldRowImages }
    }

    /// The version on which the open write is based: the version of the last sealed write, or the version in the file.
    package var baseVersion: Version { handle.version + Version(sealed.count) }

    /// The version on which the transaction is based.
    package var firstVersion: Version { handle.version }

    /// The number of sealed writes.
    package var sealedCount: Int { sealed.count }

    /// The versions of the sealed writes, in ascending order.
    package var sealedVersions: [Version] { sealed.map(\.version) }

    /// A key for a new row of a table whose keys the runtime assigns. Keys are never reused.
    package func nextKey(in table: TableID) throws -> ObjectKey {
        let key =
            try nextKeys[table]
            ?? handle.read {
                try $0.integer("SELECT next_key FROM martlet_types WHERE id = ?1", [.integer(Int64(table))]) ?? 1
            }
        // Only a damaged file has no next key. Keys are assigned from 1 upwards. After a migration, they continue above
        // the existing keys, or in the widest gap if the existing keys are very high: see `TableRebuild`.
        guard key < ObjectKey.max else {
            throw EngineError.damaged(
                "'martlet_types' has no next key for the type number \(table)", path: coordinator.path)
        }
        nextKeys[table] = key + 1
        return key
    }

    /// True if the transaction has changed nothing in the file, so that no commit is needed.
    package var isUnchanged: Bool { sealed.isEmpty && !recorder.hasChanges && nextKeys.isEmpty && !isDownload }

    /// True if the file has an index of links in `AnyRealmValue` values.
    package func hasAnyLinks(_ connection: Connection) throws -> Bool {
        if let hasAnyLinks { return hasAnyLinks }
        let found = try AnyLinkIndex.exists(connection)
        hasAnyLinks = found
        return found
    }

    /// The index of links in `AnyRealmValue` values, which is created if there is none.
    package func createAnyLinks(_ connection: Connection) throws -> AnyLinkIndex {
        if try !hasAnyLinks(connection) { try AnyLinkIndex.create(connection) }
        hasAnyLinks = true
        return AnyLinkIndex(connection)
    }

    /// Makes the changes durable and returns the new version, pinned on the same connection.
    ///
    /// Every commit increments the version in the version row. It stores its change set beside the data, unless the
    /// change set has more than `storedLimit` bytes.
    ///
    /// - Throws: `.commitOutcomeUnknown` in two cases. In the first case, the disk has not confirmed the commit. The
    ///   commit may then be in the file when the file is opened again after a restart of the system. This process does
    ///   not see the commit, and the next commit permanently replaces it. In the second case, the commit has succeeded,
    ///   but the file cannot be read any more. The commit is then in the file. After any other error, the transaction
    ///   was rolled back.
    package func commit() throws(EngineError) -> (handle: SnapshotHandle, changes: ChangeSet) {
        do {
            try seal()
        } catch {
            throw abandon(because: error)
        }
        let changes = sealed.last?.changes ?? ChangeSet()
        return (try commitSealed(), changes)
    }

    /// Makes the sealed writes durable. Throws the same errors as `commit`.
    ///
    /// - Parameter keepsLock: true if the caller takes over the write lock. If this method throws, it releases the
    ///   lock.
    package func commitSealed(keepsLock: Bool = false) throws(EngineError) -> SnapshotHandle {
        precondition(isOpen && !sealed.isEmpty)
        #if MARTLET_SEEDED_BUGS
            let isDownload = self.isDownload && !SeededSyncBug.isOn(.applyRecorded)
        #endif
        if let sync = coordinator.options.sync, !isDownload { try record(sync) }
        coordinator.environment.yield(.beforeCommit)
        // Appends the entries before the commit, so that a reader that sees the new version finds its changes.
        for entry in sealed { coordinator.appendToCommitLog(entry) }
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.notifiedBeforeCommit) { coordinator.notifyListeners(baseVersion, committer) }
        #endif
        coordinator.setCommittingVersion(baseVersion)
        do {
            try handle.read { try $0.run("COMMIT") }
        } catch {
            coordinator.setCommittingVersion(nil)
            for entry in sealed.reversed() { coordinator.removeFromCommitLog(entry.version) }
            let known = error as? SQLiteError
            throw abandon(
                because: known.map { EngineError($0, path: coordinator.path, duringCommit: true) }
                    ?? EngineError.wrap(error, path: coordinator.path))
        }
        isOpen = false
        coordinator.environment.yield(.afterCommit)
        setOutcomes(.committed)
        return try coordinator.finishCommit(baseVersion, handle, committer, keepsLock: keepsLock)
    }

    // Records the changes of all sealed writes for upload.
    private func record(_ sync: SyncOptions) throws(EngineError) {
        do {
            let changes = ChangeSet.merging(sealed.map(\.changes))
            if changes.isEmpty { return }
            try handle.read { connection in
                let committing = CommittingChanges(changes, sync, coordinator, connection)
                defer { committing.end() }
                try sync.recorder.record(committing)
            }
        } catch {
            throw abandon(because: EngineError.wrap(error, path: coordinator.path))
        }
    }

    // MARK: Several writes in one transaction

    /// Seals the open write: it ends and becomes the next version. `commitSealed` makes all sealed writes durable
    /// together. If this method throws, the write is still open.
    package func seal() throws(EngineError) {
        precondition(isOpen)
        let changes = recorder.finish()
        let version = baseVersion + 1
        try EngineError.wrapping(coordinator.path) {
            try handle.read { connection in
                if !isDownload { try UniqueValues(coordinator.schema, connection).check(changes) }
                try prepare(connection, version, changes)
                if hasSavepoint { try connection.run("RELEASE martlet_write") }
            }
        }
        hasSavepoint = false
        sealedOutcomes += openOutcomes.values
        openOutcomes = [:]
        sealed.append(CommitLog.Entry(version: version, changes: changes, oldRows: oldRows))
        resetRecordedChanges()
    }

    /// Begins another write after the sealed writes.
    package func beginNextWrite() throws(EngineError) {
        precondition(isOpen && !sealed.isEmpty)
        try EngineError.wrapping(coordinator.path) { try handle.read { try $0.run("SAVEPOINT martlet_write") } }
        hasSavepoint = true
    }

    /// Rolls back the open write and keeps the sealed writes. If this method throws, the caller must roll back the
    /// whole transaction with `abandon`.
    package func cancelCurrentWrite() throws(EngineError) {
        precondition(isOpen && hasSavepoint)
        try EngineError.wrapping(coordinator.path) {
            try handle.read { connection in
                try connection.run("ROLLBACK TO martlet_write")
                try connection.run("RELEASE martlet_write")
            }
        }
        hasSavepoint = false
        for outcome in openOutcomes.values { outcome.set(.cancelled) }
        openOutcomes = [:]
        // The cancelled write may have created the index.
        #if MARTLET_SEEDED_BUGS
            if !SeededBug.isOn(.anyLinksOfCancelled) { hasAnyLinks = nil }
        #else
            hasAnyLinks = nil
        #endif
        resetRecordedChanges()
    }

    private func resetRecordedChanges() {
        recorder = ChangeRecorder()
        oldRows = RowImages(isStored: keepsOldRows)
    }

    // MARK: Rows that the transaction has inserted

    /// The outcome of the write that has inserted a row. Returns nil if no write of this transaction has inserted the
    /// row.
    package func outcome(ofInserting key: ObjectKey, in table: TableID) -> WriteOutcome? {
        if recorder.hasInserted(key, in: table) {
            let row = RowID(table: table, key: key)
            let outcome = openOutcomes[row] ?? WriteOutcome()
            openOutcomes[row] = outcome
            return outcome
        }
        guard sealed.contains(where: { $0.changes.tables[table]?.inserted.contains(key) == true }) else { return nil }
        // All sealed writes are committed or rolled back together.
        if sealedOutcomes.isEmpty { sealedOutcomes = [WriteOutcome()] }
        return sealedOutcomes[0]
    }

    /// Records that a row was deleted. If the open write has inserted the row, references to the row no longer resolve.
    /// They do not resolve to a later row either, if that row gets the same key in the same write.
    package func recordDeletion(of row: RowID) {
        recorder.delete(row.key, in: row.table)
        if !openOutcomes.isEmpty { openOutcomes.removeValue(forKey: row)?.set(.cancelled) }
    }

    /// True if `outcome` is the outcome of a write of this transaction.
    package func contains(_ outcome: WriteOutcome) -> Bool {
        openOutcomes.values.contains { $0 === outcome } || sealedOutcomes.contains { $0 === outcome }
    }

    private func setOutcomes(_ state: WriteOutcome.State) {
        for outcome in openOutcomes.values { outcome.set(state) }
        for outcome in sealedOutcomes { outcome.set(state) }
        (openOutcomes, sealedOutcomes) = ([:], [])
    }

    /// All changes since the transaction began.
    package func allChanges() -> ChangeSet { ChangeSet.merging(sealed.map(\.changes) + [recorder.finish()]) }

    private func prepare(_ connection: Connection, _ version: Version, _ changes: ChangeSet) throws {
        try connection.run("UPDATE martlet_meta SET version = ?1 WHERE id = 1", [.integer(Int64(bitPattern: version))])
        try storeNextKeys(connection)
        let bytes = ChangeSetCodec.encode(changes)
        let stored: SQLValue = bytes.count <= Self.storedLimit ? .blob(bytes) : .null
        try connection.run(
            "INSERT INTO martlet_changes VALUES (?1, ?2)", [.integer(Int64(bitPattern: version)), stored])
        try deleteOldChanges(connection, version)
    }

    // Deletes several old change sets at a time, because each deletion writes a page that the commit does not write
    // otherwise.
    private func deleteOldChanges(_ connection: Connection, _ version: Version) throws {
        let retention = coordinator.environment.changeRetention
        guard version > retention, version % max(1, retention / 16) == 0 else { return }
        try connection.run("DELETE FROM martlet_changes WHERE version <= ?1", [.integer(Int64(version - retention))])
    }

    private func storeNextKeys(_ connection: Connection) throws {
        for (table, key) in nextKeys {
            try connection.run(
                "UPDATE martlet_types SET next_key = ?1 WHERE id = ?2", [.integer(key), .integer(Int64(table))])
        }
    }

    /// For the transaction of a migration: stores the next keys, as a commit does.
    func finishWriting() throws { try handle.read { try storeNextKeys($0) } }

    /// For the transaction of a migration: ends the transaction without a commit or rollback. The caller of the
    /// migration commits or rolls back.
    func detach() -> Connection? {
        isOpen = false
        return handle.takeConnection()
    }

    private func abandon(because error: EngineError) -> EngineError {
        abandon()
        return error
    }

    /// Rolls back if the transaction is still open. The write lock is released even if the rollback fails.
    package func abandon() {
        if isOpen && !coordinator.isInherited { handleAfterRollback = try? cancel() }
    }

    /// Removes and returns the snapshot that `abandon` or a failed commit has pinned after the rollback.
    package func takeHandleAfterRollback() -> SnapshotHandle? {
        defer { handleAfterRollback = nil }
        return handleAfterRollback
    }

    /// Rolls back the whole transaction. Returns a handle that pins the version before the transaction.
    package func cancel() throws(EngineError) -> SnapshotHandle {
        precondition(isOpen)
        isOpen = false
        setOutcomes(.cancelled)
        return try coordinator.finishCancel(handle)
    }

    /// The greatest number of bytes of a stored change set. A larger change set is not stored, and other processes then
    /// compare the two versions in full.
    static let storedLimit = 1 << 20
}
