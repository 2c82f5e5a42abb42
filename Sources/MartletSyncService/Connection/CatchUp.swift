import MartletSyncProtocol

/// One reading of the log for several sessions, each with its own cursor.
struct CatchUp: Sendable {
    /// A session that needs the entries between two cursors.
    struct Request: Sendable {
        let client: UInt64
        let filter: SubscriptionFilter
        /// The cursor of the session.
        let start: SnapshotCursor
        /// The cursor at which the entries end.
        let end: SnapshotCursor

        /// - Returns: Nil if a text is not a cursor, or if the first cursor is not before the second one.
        init?(_ client: UInt64, _ filter: SubscriptionFilter, after start: SyncCursor, until end: SyncCursor) {
            guard let start = SnapshotCursor(start), let end = SnapshotCursor(end), start.isContained(in: end) else {
                return nil
            }
            (self.client, self.filter, self.start, self.end) = (client, filter, start, end)
        }
    }

    private let requests: [Request]
    private let maximumBytes: Int
    private var matcher = SubscriptionMatcher(seed: .random(in: .min ... .max))
    /// For each subscription in `matcher`, the position of its request.
    private var owners: [Int] = []
    private var requestsOfClients: [UInt64: [Int]] = [:]
    /// The entries for each request. Nil if they have more than `maximumBytes`.
    private(set) var batches: [ClientBatch?]
    private var sizes: [Int]

    /// - Parameters:
    ///   - requests: at least one.
    ///   - maximumBytes: the greatest size of the row images in the entries for one request.
    init(_ requests: [Request], maximumBytes: Int) {
        self.requests = requests
        self.maximumBytes = maximumBytes
        batches = requests.map { ClientBatch(cursor: $0.end.cursor, entries: [], storedUpload: 0) }
        sizes = requests.map { _ in 0 }
        for (position, request) in requests.enumerated() {
            requestsOfClients[request.client, default: []].append(position)
            for (type, conditions) in request.filter.conditions {
                for condition in conditions {
                    matcher.add(SubscriptionID(UInt64(owners.count)), type: type, condition)
                    owners.append(position)
                }
            }
        }
    }

    /// A cursor that is not after any cursor of the requests.
    var start: SyncCursor {
        let first = requests.reduce(UInt64.max) { min($0, $1.start.xmin) }
        return SyncCursor("\(first):\(first):")
    }

    /// The newest of the cursors at which the entries end.
    var end: SyncCursor {
        requests.dropFirst().reduce(requests[0].end) { $0.isContained(in: $1.end) ? $1.end : $0 }.cursor
    }

    /// Gives an entry to the requests that it concerns.
    mutating func add(_ logged: LoggedEntry) {
        let own = logged.origin.flatMap { requestsOfClients[$0.client] } ?? []
        for position in own where includes(logged.transaction, position) {
            let stored = batches[position]?.storedUpload ?? 0
            batches[position]?.storedUpload = max(stored, logged.origin?.upload ?? 0)
        }
        guard let entry = logged.entry else { return }
        for position in Set(own).union(matching(entry)) where includes(logged.transaction, position) {
            batches[position]?.entries.append(entry)
            sizes[position] += logged.bytes
            if sizes[position] > maximumBytes { batches[position] = nil }
        }
    }

    private func includes(_ transaction: UInt64, _ position: Int) -> Bool {
        let request = requests[position]
        return !request.start.contains(transaction) && request.end.contains(transaction)
    }

    private mutating func matching(_ entry: LogEntry) -> Set<Int> {
        // The touches of other clients change nothing.
        if entry.isTouch { return [] }
        if entry.isUnseen {
            return Set(requests.indices.filter { requests[$0].filter.conditions[entry.address.type] != nil })
        }
        var found: Set<Int> = []
        let (old, new) = (entry.old.map { RowImage($0) }, entry.new.map { RowImage($0) })
        for match in matcher.queries(matching: old, new, type: entry.address.type) {
            for subscription in matcher.subscriptions(of: match.query) {
                found.insert(owners[Int(subscription.number)])
            }
        }
        return found
    }
}
