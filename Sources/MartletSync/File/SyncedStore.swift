package import MartletEngine
package import MartletSyncProtocol

/// A synchronized file. The methods read and write the synchronization state of the client together with the objects.
///
/// Every process that opens the file records its changes. Only the process that holds the lock of
/// `acquireSynchronization` runs a `ClientSession`.
///
/// Thread safety: the methods may be called on any thread. Methods that write wait for the write lock of the file.
package final class SyncedStore: Sendable {
    package let coordinator: StoreCoordinator
    package let schema: SyncSchema

    /// Adds synchronization to the options of a file. A file that is not synchronized yet becomes synchronized when it
    /// is opened with these options.
    ///
    /// - Parameters:
    ///   - synced: the names of the synchronized types.
    ///   - wall: returns the wall clock of this machine, in milliseconds since 1970.
    /// - Returns: The synchronized types with their numbers.
    /// - Throws: `.invalidInput` for types that cannot be synchronized.
    package static func prepare(
        _ options: inout StoreOptions, synced: Set<String>, wall: @escaping @Sendable () -> UInt64
    ) throws(EngineError) -> SyncSchema {
        let schema = try SyncSchema(synced, in: options.types.map(\.type), path: options.path)
        options.sync = SyncOptions(types: synced, recorder: SyncRecorder(schema, path: options.path, wall: wall))
        return schema
    }

    /// - Parameter coordinator: a file that was opened with the options that `prepare` has set.
    package init(_ coordinator: StoreCoordinator, _ schema: SyncSchema) {
        self.coordinator = coordinator
        self.schema = schema
    }

    /// Checks the types of the file. If the schema has changed, translates the numbers of types and properties in the
    /// outbox, the subscriptions and the unresolved links. Must be called after the file was opened, before all other
    /// methods.
    ///
    /// - Throws: `.invalidInput` if the file contains types of other programs that make synchronization impossible;
    ///   `.schemaMismatch` if the outbox or a subscription contains a type or property that is not synchronized any
    ///   more.
    package func adopt() throws {
        // The file may contain types of other programs.
        _ = try SyncSchema(
            coordinator.options.sync?.types ?? [], in: coordinator.schema.tables.values.map(\.type),
            path: coordinator.path)
        try adoptNumbering()
    }

    /// Opens a file. If the file is not synchronized yet, makes it synchronized.
    ///
    /// - Throws: the errors of `prepare` and `adopt`; `.incompatibleConfiguration` for a file that is not synchronized
    ///   and already contains objects of the types in `synced`.
    package convenience init(
        _ options: StoreOptions, synced: Set<String>, wall: @escaping @Sendable () -> UInt64
    ) throws {
        var options = options
        let schema = try Self.prepare(&options, synced: synced, wall: wall)
        self.init(try StoreRegistry.coordinator(options), schema)
        try adopt()
    }

    /// Acquires the lock of the process that synchronizes the file. Returns nil if another process, or another
    /// `SyncLock` in this process, holds the lock. The lock is held until the returned object is released.
    package func acquireSynchronization() throws(EngineError) -> SyncLock? { try SyncLock.acquire(coordinator.path) }

    // MARK: Reading

    package func read<R>(_ body: (SyncTables) throws -> R) throws -> R {
        try coordinator.openSnapshot().read { try body(SyncTables($0)) }
    }

    // MARK: Writing

    /// Commits the state of a session.
    package func save(_ state: ClientState) throws { try commit(DownloadedBatch(rows: [], leaving: []), state) }

    /// Commits a batch together with the state of the session, in one transaction.
    package func commit(_ batch: DownloadedBatch, _ state: ClientState) throws {
        var mask = UploadMask()
        try commit(batch, state, &mask)
    }

    /// Commits a batch together with the state of the session, in one transaction.
    ///
    /// The batch must not overwrite local changes that the service has not acknowledged. So this method leaves out the
    /// values that the uploads in the file have written.
    ///
    /// - Parameter mask: the mask of the uploads that were read for earlier batches of the same session. Uploads that
    ///   were committed since then are added to the mask.
    package func commit(_ batch: DownloadedBatch, _ state: ClientState, _ mask: inout UploadMask) throws {
        if !batch.isEmpty {
            // Without the write lock, other threads and processes can write while this method reads the uploads.
            try read { tables in
                _ = try record(tables)
                try add(state, tables, to: &mask)
            }
        }
        _ = try write { transaction in try apply(batch, state, &mask, transaction) }
    }

    /// Writes a batch and the state of the session in an open transaction.
    package func apply(
        _ batch: DownloadedBatch, _ state: ClientState, _ mask: inout UploadMask, _ transaction: WriteTransaction
    ) throws {
        let isFirstSet = try transaction.handle.read { connection in
            let record = try record(SyncTables(connection))
            return record.shownSet == 0 && state.shown.number > 0
        }
        mask.removeUploads(through: state.acknowledgedUpload)
        if !batch.isEmpty || isFirstSet {
            #if MARTLET_SEEDED_BUGS
                let isRead = mask.lastUpload > 0 && SeededSyncBug.isOn(.unmaskedApply)
            #else
                let isRead = false
            #endif
            // Uploads may have been committed before this transaction acquired the write lock. Adds them to the mask.
            if !isRead { try transaction.handle.read { try add(state, SyncTables($0), to: &mask) } }
            var applier = try SyncApplier(schema, transaction)
            try applier.apply(mask.masked(batch))
            if isFirstSet {
                let kept = batch.addresses
                try applier.removeObjects { !kept.contains($0) && !mask.contains($0) }
            }
        }
        #if MARTLET_SEEDED_BUGS
            let isLost = SeededSyncBug.isOn(.cursorNotCommitted) && !batch.rows.isEmpty
            if isLost {
                return try transaction.handle.read {
                    try SyncTables($0).removeOutbox(through: state.acknowledgedUpload)
                }
            }
        #endif
        try transaction.handle.read { try save(state, SyncTables($0)) }
    }

    /// Discards the position of the client, because the service cannot continue from that position.
    ///
    /// The objects remain until the data of the newest set of subscriptions has arrived. Objects that the set does not
    /// contain are then deleted. The uploads are kept.
    ///
    /// - Parameter forgetsClient: true if the service does not know the client any more, or has lost acknowledged
    ///   uploads. The service then assigns a new identity, and the uploads get new numbers.
    package func startAgain(forgetsClient: Bool) throws {
        let _: Void? = try writeIfNeeded { tables in
            var record = try tables.record()
            (record.epoch, record.cursor, record.shownSet) = (nil, nil, 0)
            if forgetsClient { (record.client, record.secret) = (nil, []) }
            try tables.restartOutbox(after: record.acknowledged, renumbers: forgetsClient)
            if forgetsClient { record.acknowledged = 0 }
            try tables.write(record)
        }
    }

    private func save(_ state: ClientState, _ tables: SyncTables) throws {
        var record = try tables.record()
        record.client = state.identity?.id
        record.secret = state.identity?.secret ?? []
        record.epoch = state.position?.epoch
        record.cursor = state.position?.cursor.text
        record.acknowledged = state.acknowledgedUpload
        record.clock = max(record.clock, state.clock.last.rawValue)
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.clockNotPersisted) { record.clock = 0 }
        #endif
        record.clockOffset = state.clock.offsetMilliseconds
        if record.shownSet != state.shown.number {
            record.shownSet = state.shown.number
            // The program may have replaced the set after the client sent it. The file then does not contain the
            // queries of the sent set any more, so they are written here.
            if record.shownSet != record.wantedSet {
                try tables.write(stored(state.shown.queries), of: record.shownSet)
            }
            try tables.removeSubscriptions(except: record.shownSet, record.wantedSet)
        }
        try tables.write(record)
        try tables.removeOutbox(through: record.acknowledged)
    }

    /// Replaces the newest set of subscriptions, in one transaction.
    ///
    /// - Parameter change: returns the new set; nil to change nothing.
    /// - Returns: The number of the newest set.
    @discardableResult
    package func changeSubscriptions(
        _ change: ([StoredSubscription]) throws -> [StoredSubscription]?
    ) throws -> UInt64 {
        var known: UInt64 = 0
        let changed: UInt64? = try writeIfNeeded { tables in
            var record = try tables.record()
            known = record.wantedSet
            guard let new = try change(try tables.subscriptions(of: record.wantedSet)) else { return nil }
            record.wantedSet = max(record.wantedSet, record.shownSet) + 1
            try tables.write(new, of: record.wantedSet)
            try tables.removeSubscriptions(except: record.shownSet, record.wantedSet)
            try tables.write(record)
            return record.wantedSet
        }
        return changed ?? known
    }

    /// Replaces the newest set of subscriptions by subscriptions without names.
    package func subscribe(_ queries: [SubscribedQuery]) throws { try changeSubscriptions { _ in stored(queries) } }

    private func stored(_ queries: [SubscribedQuery]) -> [StoredSubscription] {
        queries.compactMap { query in
            schema[query.type].map { StoredSubscription(type: $0.name, condition: query.condition) }
        }
    }

    /// Changes the row of `martlet_sync` in one transaction. Observers of objects are not notified.
    ///
    /// - Parameter change: returns false to change nothing.
    package func update(_ change: (inout SyncRecord) throws -> Bool) throws {
        let _: Void? = try writeIfNeeded { tables in
            var record = try tables.record()
            guard try change(&record) else { return nil }
            return try tables.write(record)
        }
    }

    // Runs `body` in a transaction. Rolls the transaction back if `body` returns nil.
    private func writeIfNeeded<R>(_ body: (SyncTables) throws -> R?) throws -> R? {
        try write { transaction in try transaction.handle.read { try body(SyncTables($0)) } }
    }

    func write<R>(_ body: (WriteTransaction) throws -> R?) throws -> R? {
        var handle: SnapshotHandle?
        let transaction = try coordinator.beginWrite(replacing: &handle)
        transaction.isDownload = true
        do {
            guard let result = try body(transaction) else {
                _ = try transaction.cancel()
                return nil
            }
            _ = try transaction.commit()
            return result
        } catch {
            transaction.abandon()
            throw error
        }
    }
}
