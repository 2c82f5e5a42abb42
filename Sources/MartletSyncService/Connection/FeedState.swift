import MartletSyncProtocol

/// The log entries that the sessions of one instance of the service have not taken yet. The instance reads the log once
/// for all sessions.
///
/// A session is *attached* or reads the log itself. For each attached session, the feed collects the entries after the
/// session's cursor that concern the session.
struct FeedState: Sendable {
    private struct Attached: Sendable {
        let client: UInt64
        let subscriptions: [SubscriptionID]
        /// The numbers of the types of the subscriptions.
        let types: Set<Int>
        /// The cursor of the session.
        var cursor: SyncCursor
        /// The entries that concern the session, between its cursor and the cursor of the feed.
        var pending: [LogEntry] = []
        /// The number of the newest upload of the client that the feed has found.
        var storedUpload: UInt64 = 0
    }

    /// The maximum number of pending entries of a session. A session with more entries is detached, because it does not
    /// take them fast enough.
    private let maximumPending: Int
    /// The maximum number of pending entries of all sessions. If this number is exceeded, the sessions with the most
    /// entries are detached.
    private let maximumTotal: Int
    private var total = 0
    /// The cursor up to which the instance has read the log.
    private(set) var cursor: SyncCursor
    private var matcher: SubscriptionMatcher
    private var attached: [SessionID: Attached] = [:]
    /// The sessions that must be notified of every change, because the feed collects no entries for them.
    private var detached: Set<SessionID> = []
    private var sessions: [SubscriptionID: SessionID] = [:]
    private var sessionsOfClients: [UInt64: Set<SessionID>] = [:]
    private var lastSubscription: UInt64 = 0

    /// - Parameter seed: a random number that clients do not know.
    init(cursor: SyncCursor, seed: UInt64, maximumPending: Int = 10_000, maximumTotal: Int = 1_000_000) {
        self.cursor = cursor
        self.maximumPending = maximumPending
        self.maximumTotal = maximumTotal
        matcher = SubscriptionMatcher(seed: seed)
    }

    var attachedCount: Int { attached.count }

    // MARK: Sessions

    /// Collects entries for a session from now on. The session must itself read the log up to `cursor` of this feed.
    mutating func attach(_ session: SessionID, client: UInt64, _ filter: SubscriptionFilter) {
        remove(session)
        var subscriptions: [SubscriptionID] = []
        for (type, conditions) in filter.conditions {
            for condition in conditions {
                lastSubscription += 1
                let subscription = SubscriptionID(lastSubscription)
                matcher.add(subscription, type: type, condition)
                sessions[subscription] = session
                subscriptions.append(subscription)
            }
        }
        attached[session] = Attached(
            client: client, subscriptions: subscriptions, types: Set(filter.conditions.keys), cursor: cursor)
        sessionsOfClients[client, default: []].insert(session)
    }

    /// Stops collecting entries for a session. The session is then notified of every change until it is attached again.
    mutating func detach(_ session: SessionID) {
        remove(session)
        detached.insert(session)
    }

    /// Removes a session that has ended, or that will be attached again.
    mutating func remove(_ session: SessionID) {
        detached.remove(session)
        guard let place = attached.removeValue(forKey: session) else { return }
        total -= place.pending.count
        for subscription in place.subscriptions {
            matcher.remove(subscription)
            sessions[subscription] = nil
        }
        sessionsOfClients[place.client]?.remove(session)
        if sessionsOfClients[place.client]?.isEmpty == true { sessionsOfClients[place.client] = nil }
    }

    /// Returns the collected entries of a session, and moves the session to the cursor of the feed. Returns nil if the
    /// session is not attached, or if its cursor in the feed is not `cursor`.
    mutating func take(_ session: SessionID, after cursor: SyncCursor) -> ClientBatch? {
        guard let place = attached[session], place.cursor == cursor else { return nil }
        attached[session]?.cursor = self.cursor
        attached[session]?.pending = []
        total -= place.pending.count
        return ClientBatch(cursor: self.cursor, entries: place.pending, storedUpload: place.storedUpload)
    }

    // MARK: Changes

    /// Adds the changes after the cursor of the feed. Returns the sessions that must take their entries or read the
    /// log.
    mutating func advance(_ batch: LogBatch) -> Set<SessionID> {
        cursor = batch.cursor
        if batch.isTooLarge {
            for session in Array(attached.keys) { detach(session) }
            return detached
        }
        guard !batch.entries.isEmpty || !batch.uploads.isEmpty else { return [] }
        var concerned: Set<SessionID> = []
        for entry in batch.entries {
            for session in sessions(concernedBy: entry) {
                attached[session]?.pending.append(entry)
                total += 1
                concerned.insert(session)
            }
        }
        for (client, upload) in batch.uploads {
            for session in sessionsOfClients[client] ?? [] {
                let known = attached[session]?.storedUpload ?? 0
                attached[session]?.storedUpload = max(known, upload)
                concerned.insert(session)
            }
        }
        for session in concerned where (attached[session]?.pending.count ?? 0) > maximumPending { detach(session) }
        while total > maximumTotal,
            let largest = attached.max(by: { $0.value.pending.count < $1.value.pending.count })
        {
            detach(largest.key)
        }
        return concerned.union(detached)
    }

    // Returns the attached sessions that must get an entry. A session must get all entries that uploads of its client
    // have made: it must send the client every object that such an upload names.
    private mutating func sessions(concernedBy entry: LogEntry) -> Set<SessionID> {
        var found = entry.origin.flatMap { sessionsOfClients[$0.client] } ?? []
        if entry.isTouch { return found }
        if entry.isUnseen {
            return found.union(attached.lazy.filter { $0.value.types.contains(entry.address.type) }.map(\.key))
        }
        let (old, new) = (entry.old.map { RowImage($0) }, entry.new.map { RowImage($0) })
        for match in matcher.queries(matching: old, new, type: entry.address.type) {
            for subscription in matcher.subscriptions(of: match.query) {
                if let session = sessions[subscription] { found.insert(session) }
            }
        }
        return found
    }
}
