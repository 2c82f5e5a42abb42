import MartletSyncProtocol

/// Reads the log once for several sessions, each with its own cursor.
struct CatchUp: Sendable {
    /// Identifies a catalog. The numbers of types are valid only in one deployment, and cursors only in one epoch.
    struct Version: Sendable, Hashable {
        let deployment: Int
        let epoch: String
    }

    /// A session that needs the entries between two cursors.
    struct Request: Sendable {
        let client: UInt64
        let filter: SubscriptionFilter
        /// The catalog for which the filter was made.
        let version: Version
        /// The cursor of the session.
        let start: SnapshotCursor
        /// The cursor at which the entries end.
        let end: SnapshotCursor

        /// A session with more open transactions in its cursor reads the log alone. A client could send a cursor with
        /// so many open transactions that the other sessions would be delayed.
        private static let maximumOpen = 100

        /// - Returns: Nil if a text is not a cursor, if `start` is not before `end`, or if `start` has too many open
        ///   transactions.
        init?(
            _ client: UInt64, _ filter: SubscriptionFilter, _ version: Version, after start: SyncCursor,
            until end: SyncCursor
        ) {
            guard let start = SnapshotCursor(start), let end = SnapshotCursor(end), start.isContained(in: end),
                start.open.count <= Self.maximumOpen
            else { return nil }
            (self.client, self.filter, self.version) = (client, filter, version)
            (self.start, self.end) = (start, end)
        }
    }

    /// The result for one session.
    enum Outcome: Sendable {
        case batch(ClientBatch)
        /// The session has to read the log alone.
        case alone
        /// The row images of the entries are larger than `MemoryLimits.clientBytes`.
        case tooManyChanges
    }

    struct Limits: Sendable {
        /// The maximum total size of the row images of the entries for one request.
        var requestBytes = MemoryLimits().clientBytes
        /// The maximum total size of the row images of all entries that belong to at least one request.
        var bytes = 4 * MemoryLimits().feedBytes
        /// The maximum number of entries of all requests. An entry counts once for each request that gets it.
        var entries = 1_000_000
    }

    /// The error that `add` throws if no request needs further entries.
    struct Ended: Error {}

    private let requests: [Request]
    private let limits: Limits
    private var matcher = SubscriptionMatcher(seed: .random(in: .min ... .max))
    /// For each subscription in `matcher`, the position of its request.
    private var owners: [Int] = []
    private var requestsOfClients: [UInt64: [Int]] = [:]
    private var batches: [ClientBatch]
    private(set) var outcomes: [Outcome] = []
    private var isOpen: [Bool]
    private var sizes: [Int]
    private var bytes = 0
    private var entries = 0
    /// For each transaction, the sum of the random numbers of its entries.
    private var sums: [UInt64: Int64] = [:]

    /// - Parameter requests: at least one; all of the same version.
    init(_ requests: [Request], limits: Limits = Limits()) {
        self.requests = requests
        self.limits = limits
        batches = requests.map { ClientBatch(cursor: $0.end.cursor, entries: [], storedUpload: 0) }
        isOpen = requests.map { _ in true }
        sizes = requests.map { _ in 0 }
        outcomes = requests.map { _ in .alone }
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

    var version: Version { requests[0].version }

    /// The transactions that all cursors of the requests contain.
    var start: SyncCursor {
        let xmax = requests.reduce(UInt64.max) { min($0, $1.start.xmax) }
        let open = Set(requests.flatMap(\.start.open)).filter { $0 < xmax }.sorted()
        return SyncCursor("\(open.first ?? xmax):\(xmax):\(open.map(String.init).joined(separator: ","))")
    }

    /// The newest `end` cursor of the requests.
    var end: SyncCursor { Self.end(requests).cursor }

    /// The newest `end` cursor of the requests.
    static func end(_ requests: [Request]) -> SnapshotCursor {
        requests.dropFirst().reduce(requests[0].end) { $0.isContained(in: $1.end) ? $1.end : $0 }
    }

    /// Adds an entry to the batches of the requests that it concerns.
    ///
    /// - Throws: `Ended` if no request needs further entries, because all of them have exceeded the limits.
    mutating func add(_ logged: LoggedEntry) throws(Ended) {
        let own = logged.origin.flatMap { requestsOfClients[$0.client] } ?? []
        for position in own where includes(logged.transaction, position) {
            batches[position].storedUpload = max(batches[position].storedUpload, logged.origin?.upload ?? 0)
        }
        guard let entry = logged.entry else { return }
        var isGiven = false
        for position in Set(own).union(matching(entry)) where isOpen[position] && includes(logged.transaction, position)
        {
            batches[position].entries.append(entry)
            sizes[position] += logged.bytes
            entries += 1
            isGiven = true
            if sizes[position] > limits.requestBytes { close(position, .tooManyChanges) }
        }
        if isGiven { bytes += logged.bytes }
        if bytes > limits.bytes { for position in requests.indices where isOpen[position] { close(position, .alone) } }
        while entries > limits.entries,
            let largest = requests.indices.max(by: { batches[$0].entries.count < batches[$1].entries.count })
        {
            close(largest, .alone)
        }
        if !isOpen.contains(true) { throw Ended() }
    }

    /// Called with the transaction and the random number of each entry in the log.
    mutating func count(_ transaction: UInt64, _ nonce: Int64) { sums[transaction, default: 0] &+= nonce }

    /// Called after the last entry. If the checksums of a request show that its two cursors belong to different
    /// histories of the database, its outcome is `alone`. The session then reads the log itself, and finds that its
    /// cursor is not valid.
    mutating func finish() {
        let total = RunningSums(sums)
        for position in requests.indices where isOpen[position] {
            let request = requests[position]
            if let start = request.start.checksum, let end = request.end.checksum,
                start &+ total.between(request.start, request.end) != end
            {
                continue
            }
            outcomes[position] = .batch(batches[position])
        }
    }

    private mutating func close(_ position: Int, _ outcome: Outcome) {
        isOpen[position] = false
        outcomes[position] = outcome
        entries -= batches[position].entries.count
        batches[position].entries = []
    }

    private func includes(_ transaction: UInt64, _ position: Int) -> Bool {
        let request = requests[position]
        return !request.start.contains(transaction) && request.end.contains(transaction)
    }

    private mutating func matching(_ entry: LogEntry) -> Set<Int> {
        // A touch changes no values, so it concerns only the client of its upload.
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
