package import MartletEngine
package import MartletSyncProtocol

/// A synchronized file: the state of its client, and the transactions that change this state together with the objects.
///
/// Every process that opens the file records its changes. Only the process that has the lock of
/// `acquireSynchronization` runs a `ClientSession`.
///
/// Thread safety: the methods may be called on any thread. Those that write wait for the write lock of the file.
package final class SyncedStore: Sendable {
    package let coordinator: StoreCoordinator
    package let schema: SyncSchema

    /// Opens a file, and makes it synchronized if it is not.
    ///
    /// - Parameters:
    ///   - synced: the names of the synchronized types.
    ///   - wall: returns the wall clock of this machine, in milliseconds since 1970.
    /// - Throws: `.invalidInput` for types that cannot be synchronized; `.incompatibleConfiguration` for a file that
    ///   contains objects of these types and is not synchronized.
    package init(_ options: StoreOptions, synced: Set<String>, wall: @escaping @Sendable () -> UInt64) throws {
        let schema = try SyncSchema(synced, in: options.types.map(\.type), path: options.path)
        var options = options
        options.sync = SyncOptions(types: synced, recorder: SyncRecorder(schema, path: options.path, wall: wall))
        self.schema = schema
        coordinator = try StoreRegistry.coordinator(options)
        // The file may have further types, of other programs.
        _ = try SyncSchema(synced, in: coordinator.schema.tables.values.map(\.type), path: options.path)
        try adoptNumbering()
    }

    /// Acquires the right to synchronize the file. Returns nil if another process, or another owner in this process, has
    /// it. It ends with the returned object.
    package func acquireSynchronization() throws(EngineError) -> SyncLock? { try SyncLock.acquire(coordinator.path) }

    // MARK: Reading

    /// The committed state.
    package func load() throws -> ClientState {
        try coordinator.openSnapshot().read { connection in
            let tables = SyncTables(connection)
            var state = try ClientState(tables.record(), self, tables)
            try add(tables.outbox(after: state.lastUpload), to: &state)
            return state
        }
    }

    /// Adds what this or another process has committed since the state was loaded: new uploads, and a new set of
    /// subscriptions.
    package func refresh(_ state: inout ClientState) throws {
        try coordinator.openSnapshot().read { connection in
            let tables = SyncTables(connection)
            let record = try tables.record()
            if record.wantedSet > state.wanted.number { state.wanted = try set(record.wantedSet, tables) }
            try add(tables.outbox(after: state.lastUpload), to: &state)
        }
    }

    fileprivate func set(_ number: UInt64, _ tables: SyncTables) throws -> ClientState.SubscriptionSet {
        let queries = try tables.queries(of: number).compactMap { type, condition in
            schema.number(of: type).map { SubscribedQuery(type: $0, condition: condition) }
        }
        return ClientState.SubscriptionSet(number: number, queries: queries)
    }

    private func add(_ entries: [OutboxEntry], to state: inout ClientState) throws {
        for upload in try uploads(entries) {
            state.outbox.append(upload)
            state.lastUpload = upload.number
            state.clock.receive(upload.time)
        }
    }

    private func uploads(_ entries: [OutboxEntry]) throws -> [ClientMessage.Upload] {
        try entries.map { entry in
            do {
                return ClientMessage.Upload(
                    number: entry.number, base: SyncCursor(entry.base), time: HybridTimestamp(rawValue: entry.time),
                    operations: try SyncOperation.decoded(entry.operations))
            } catch {
                throw EngineError.damaged(
                    "the upload \(entry.number) in 'martlet_outbox' cannot be read (\(error))",
                    path: coordinator.path)
            }
        }
    }

    // MARK: Writing

    /// Commits the state of a session.
    package func save(_ state: ClientState) throws { try commit(DownloadedBatch(rows: [], leaving: []), state) }

    /// Commits a batch together with the state of the session, in one transaction.
    ///
    /// The session has masked the values that it knows to be written locally. Transactions that were committed since
    /// then are masked here, under the write lock.
    package func commit(_ batch: DownloadedBatch, _ state: ClientState) throws {
        try write { transaction in try apply(batch, state, transaction) }
    }

    /// Writes a batch and the state of the session in an open transaction.
    package func apply(_ batch: DownloadedBatch, _ state: ClientState, _ transaction: WriteTransaction) throws {
        let newer = try transaction.handle.read { try SyncTables($0).outbox(after: state.lastUpload) }
        var applier = try SyncApplier(schema, transaction)
        #if MARTLET_SEEDED_BUGS
            let isMasked = !newer.isEmpty && !SeededSyncBug.isOn(.unmaskedApply)
        #else
            let isMasked = !newer.isEmpty
        #endif
        try applier.apply(isMasked ? UploadMask(uploads(newer)).masked(batch) : batch)
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
            // The program may have replaced the set since it was sent.
            if record.shownSet != record.wantedSet {
                try tables.write(named(state.shown.queries), of: record.shownSet)
            }
            try tables.removeQueries(except: record.shownSet, record.wantedSet)
        }
        try tables.write(record)
        try tables.removeOutbox(through: record.acknowledged)
    }

    /// Replaces the newest set of subscriptions.
    package func subscribe(_ queries: [SubscribedQuery]) throws {
        try write { transaction in
            try transaction.handle.read { connection in
                let tables = SyncTables(connection)
                var record = try tables.record()
                record.wantedSet = max(record.wantedSet, record.shownSet) + 1
                try tables.write(named(queries), of: record.wantedSet)
                try tables.removeQueries(except: record.shownSet, record.wantedSet)
                try tables.write(record)
            }
        }
    }

    private func named(_ queries: [SubscribedQuery]) -> [(type: String, condition: [UInt8])] {
        queries.compactMap { query in schema[query.type].map { ($0.name, query.condition) } }
    }

    private func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        var handle: SnapshotHandle?
        let transaction = try coordinator.beginWrite(replacing: &handle)
        transaction.isDownload = true
        do {
            let result = try body(transaction)
            _ = try transaction.commit()
            return result
        } catch {
            transaction.abandon()
            throw error
        }
    }

    // MARK: The numbers of types and properties

    // The operations of the outbox contain numbers of types and properties. They are translated when the schema has
    // changed. Another program with the former schema can then no longer record changes.
    private func adoptNumbering() throws {
        guard !coordinator.options.isReadOnly else { return }
        let numbering = schema.numbering
        let known = try coordinator.openSnapshot().read { try SyncTables($0).record().numbering }
        if known == numbering { return }
        try write { transaction in
            let writer = DownloadWriter(transaction)
            try transaction.handle.read { connection in
                let tables = SyncTables(connection)
                var record = try tables.record()
                let translation = NumberTranslation(from: record.numbering, to: schema) { type in
                    writer.schema[type.name].map { writer.defaultValues($0.id) } ?? []
                }
                for upload in try uploads(tables.outbox(after: record.acknowledged)) where record.numbering != numbering
                {
                    let operations = try translated(upload, translation)
                    try tables.replaceOperations(of: upload.number, by: SyncOperation.encoded(operations))
                }
                record.numbering = numbering
                try tables.write(record)
            }
        }
    }

    private func translated(
        _ upload: ClientMessage.Upload, _ translation: NumberTranslation
    ) throws -> [SyncOperation] {
        do {
            return try upload.operations.map { try translation.translated($0) }
        } catch let missing as NumberTranslation.Missing {
            throw EngineError(
                .schemaMismatch, path: coordinator.path,
                "the file has a transaction that was not uploaded yet and that has changed \(missing.name), which is not "
                    + "synchronized any more; nothing was changed; upload it with the previous version of the program first"
            )
        }
    }
}

extension ClientState {
    fileprivate init(_ record: SyncRecord, _ store: SyncedStore, _ tables: SyncTables) throws {
        self.init()
        identity = record.client.map { ClientIdentity(id: $0, secret: record.secret) }
        if let epoch = record.epoch, let cursor = record.cursor {
            position = SyncPosition(epoch: epoch, cursor: SyncCursor(cursor))
        }
        acknowledgedUpload = record.acknowledged
        lastUpload = record.acknowledged
        clock = HybridClock(
            last: HybridTimestamp(rawValue: record.clock), offsetMilliseconds: record.clockOffset)
        shown = try store.set(record.shownSet, tables)
        wanted = try store.set(record.wantedSet, tables)
    }
}
