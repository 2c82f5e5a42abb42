import MartletSyncProtocol

/// Reads the log for all sessions of an instance of the service.
///
/// The feed reads the log once for several requests. While the feed reads the log, all further requests wait for one
/// common read, which begins after the current read has ended.
actor LogFeed {
    /// The result of attaching a session.
    enum Position: Sendable {
        /// The session had no cursor, and begins at the cursor of this batch. The batch contains no entries.
        case batch(ClientBatch)
        /// The session is attached at this cursor, and must read the log up to this cursor itself.
        case behind(until: SyncCursor)
    }

    /// Receives the sessions for which new entries may exist, or nil for all sessions.
    typealias Observer = @Sendable (Set<SessionID>?) async -> Void

    private let read: @Sendable (SyncCursor?) async throws -> LogBatch
    private var state: FeedState?
    private var observer: Observer?
    /// The newest read that has begun.
    private var running: Task<Void, any Error>?
    /// A read that has not begun.
    private var waiting: Task<Void, any Error>?

    /// - Parameter read: reads the changes after a cursor. If the argument is nil, the closure only finds the current
    ///   cursor.
    init(read: @escaping @Sendable (SyncCursor?) async throws -> LogBatch) { self.read = read }

    var attachedCount: Int { state?.attachedCount ?? 0 }

    /// True while a read waits for the end of another read.
    var isReadingRequested: Bool { waiting != nil }

    func observe(_ observer: Observer?) { self.observer = observer }

    // MARK: Reading

    /// Reads the log. When this method returns, the feed has all entries that were committed before the call.
    func advance() async throws {
        if let waiting { return try await waiting.value }
        let previous = running
        let task = Task {
            _ = await previous?.result
            begin()
            try await readOnce()
        }
        waiting = task
        try await task.value
    }

    private func begin() {
        running = waiting
        waiting = nil
    }

    private func readOnce() async throws {
        let start = state?.cursor
        let batch = try await read(start)
        // If `reset` was called during the read, the batch belongs to the previous state.
        guard start == state?.cursor else { return }
        guard start != nil else {
            state = FeedState(cursor: batch.cursor, seed: .random(in: .min ... .max))
            return
        }
        inform(state?.advance(batch) ?? [])
    }

    private func inform(_ sessions: Set<SessionID>?) {
        guard let observer, sessions?.isEmpty != true else { return }
        // A separate task calls the observer, so that the read does not wait for the sessions.
        Task { await observer(sessions) }
    }

    /// Forgets all sessions and the cursor. Called after the schema or the database has changed.
    func reset() {
        state = nil
        inform(nil)
    }

    // MARK: Sessions

    /// Returns the collected entries of a session. Returns nil if the session is not attached at this cursor.
    func take(_ session: SessionID, after cursor: SyncCursor) -> ClientBatch? { state?.take(session, after: cursor) }

    /// Attaches a session at the cursor of the feed. Reads the log first if the session may be ahead of the feed.
    ///
    /// - Parameter cursor: the cursor of the session; nil for a session that begins at the current cursor.
    /// - Throws: `LogReaderError.unknownCursor` for a text that is not a cursor.
    func attach(
        _ session: SessionID, client: UInt64, after cursor: SyncCursor?, _ filter: SubscriptionFilter
    ) async throws -> Position {
        let start = cursor.flatMap { SnapshotCursor($0) }
        if cursor != nil, start == nil { throw LogReaderError.unknownCursor }
        // The session may have read the log itself, and may have a newer cursor than the feed.
        if state == nil || !(start.map(isReached) ?? false) { try await advance() }
        // If `reset` was called during the read, `state` is still nil.
        for _ in 0..<3 where state == nil { try await advance() }
        guard let end = state?.cursor else { throw LogReaderError.schemaChanged }
        state?.attach(session, client: client, filter)
        return cursor == nil
            ? .batch(ClientBatch(cursor: end, entries: [], storedUpload: 0)) : .behind(until: end)
    }

    private func isReached(_ cursor: SnapshotCursor) -> Bool {
        guard let own = state.flatMap({ SnapshotCursor($0.cursor) }) else { return false }
        return cursor.isContained(in: own)
    }

    func detach(_ session: SessionID) { state?.detach(session) }

    func remove(_ session: SessionID) { state?.remove(session) }
}
