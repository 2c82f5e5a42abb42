import MartletEngine
package import MartletSyncProtocol

/// Reads the state of the client and its outbox. After days without a connection, an outbox may contain many uploads.
/// So the state contains only the first uploads, without their operations.
extension SyncedStore {
    /// The maximum number of uploads in `ClientState.outbox`. The client sends at most
    /// `SyncProtocol.maximumUploadsInFlight` of them before the service acknowledges the first one. This limit is
    /// larger, because the service may have stored many uploads that are not acknowledged in the file: the file may be
    /// an old copy, or a power failure may have removed the newest acknowledgements (with `.normal` durability). The
    /// session recognizes a stored upload only if the state contains it.
    package static let loadedUploads = 100_000

    /// The state of the client in the newest version of the file.
    ///
    /// - Parameter loadedUploads: the maximum number of uploads in the state.
    package func load(loadedUploads: Int = SyncedStore.loadedUploads) throws -> ClientState {
        try read { tables in
            var state = try state(record(tables), tables)
            try add(loadedUploads, tables, to: &state)
            return state
        }
    }

    /// Adds the uploads and the set of subscriptions that this process or another process has committed since the state
    /// was loaded.
    ///
    /// - Parameter loadedUploads: the maximum number of uploads in the state. If the file contains more uploads, later
    ///   calls add them, after the service has acknowledged the first ones. `state.lastUpload` is always the number of
    ///   the newest upload in the file.
    package func refresh(_ state: inout ClientState, loadedUploads: Int = SyncedStore.loadedUploads) throws {
        try read { tables in
            let record = try record(tables)
            if record.wantedSet > state.wanted.number { state.wanted = try subscriptionSet(record.wantedSet, tables) }
            try add(loadedUploads, tables, to: &state)
        }
    }

    // Reads the row of `martlet_sync`. Throws if the numbers of types and properties in the outbox and the unresolved
    // links differ from the numbers of this program.
    func record(_ tables: SyncTables) throws -> SyncRecord {
        let record = try tables.record()
        guard record.numbering == schema.numbering else { throw EngineError.otherNumbering(path: coordinator.path) }
        return record
    }

    private func state(_ record: SyncRecord, _ tables: SyncTables) throws -> ClientState {
        var state = ClientState()
        state.identity = record.client.map { ClientIdentity(id: $0, secret: record.secret) }
        if let epoch = record.epoch, let cursor = record.cursor {
            state.position = SyncPosition(epoch: epoch, cursor: SyncCursor(cursor))
        }
        (state.acknowledgedUpload, state.lastUpload) = (record.acknowledged, record.acknowledged)
        state.clock = HybridClock(
            last: HybridTimestamp(rawValue: record.clock), offsetMilliseconds: record.clockOffset)
        state.shown = try subscriptionSet(record.shownSet, tables)
        state.wanted = try subscriptionSet(record.wantedSet, tables)
        return state
    }

    private func subscriptionSet(_ number: UInt64, _ tables: SyncTables) throws -> ClientState.SubscriptionSet {
        var queries: [SubscribedQuery] = []
        for subscription in try tables.subscriptions(of: number) {
            guard let type = schema.number(of: subscription.type) else { continue }
            let query = SubscribedQuery(type: type, condition: subscription.condition)
            // Several subscriptions may have the same query.
            if !queries.contains(query) { queries.append(query) }
        }
        return ClientState.SubscriptionSet(number: number, queries: queries)
    }

    private func add(_ loadedUploads: Int, _ tables: SyncTables, to state: inout ClientState) throws {
        let head = try tables.outboxHead(numbering: schema.numbering)
        state.lastUpload = max(state.lastUpload, head.lastNumber)
        state.clock.receive(HybridTimestamp(rawValue: head.clock))
        let missing = loadedUploads - state.outbox.count
        guard missing > 0, state.hasMoreUploads else { return }
        let last = state.outbox.last?.number ?? state.acknowledgedUpload
        for header in try tables.outboxHeaders(after: last, count: missing) {
            state.outbox.append(
                WaitingUpload(
                    number: header.number, time: HybridTimestamp(rawValue: header.time), bytes: header.bytes))
        }
    }

    /// Reads an upload that is in the outbox.
    package func upload(_ number: UInt64) throws -> ClientMessage.Upload {
        try read { tables in
            _ = try record(tables)
            guard let upload = try upload(after: number - 1, tables), upload.number == number else {
                throw EngineError.damaged(
                    "the upload \(number) is missing in 'martlet_outbox'", path: coordinator.path)
            }
            return upload
        }
    }

    /// Reads the first upload with a number greater than `number`. Returns nil if there is none.
    func upload(after number: UInt64, _ tables: SyncTables) throws -> ClientMessage.Upload? {
        guard let entry = try tables.outboxEntry(after: number) else { return nil }
        do {
            return ClientMessage.Upload(
                number: entry.number, base: SyncCursor(entry.base), time: HybridTimestamp(rawValue: entry.time),
                operations: try SyncOperation.decoded(entry.operations))
        } catch {
            throw EngineError.damaged(
                "the upload \(entry.number) in 'martlet_outbox' cannot be read (\(error))", path: coordinator.path)
        }
    }

    // Adds the uploads of the file to the mask, except those that the service has acknowledged.
    func add(_ state: ClientState, _ tables: SyncTables, to mask: inout UploadMask) throws {
        while let upload = try upload(after: max(mask.lastUpload, state.acknowledgedUpload), tables) {
            mask.add(upload)
        }
    }
}
