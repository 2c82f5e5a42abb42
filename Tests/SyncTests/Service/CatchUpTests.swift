import MartletValues
import ModelTesting
import Testing

@testable import MartletSyncProtocol
@testable import MartletSyncService

@Suite("one read of the log for several sessions")
struct CatchUpTests {
    private static let group = ValuePath(1)
    private static let version = CatchUp.Version(deployment: 1, epoch: "e")

    /// A filter that contains the objects of the given groups.
    private static func filter(_ groups: Set<Int64>) -> SubscriptionFilter {
        let conditions = groups.sorted().map {
            ConditionTest.isIn(ConditionOperand(group, .integer), [.integer($0)]).canonical
        }
        return SubscriptionFilter([], conditions: groups.isEmpty ? [:] : [0: conditions]) { _, values in
            guard case .scalar(.integer(let number))? = values[group] else { return false }
            return groups.contains(number)
        }
    }

    private static func entry(_ random: inout SeededRandom) -> LoggedEntry {
        func values() -> [ValuePath: SyncValue]? {
            let number = Int64.random(in: -1...5, using: &random)
            return number < 0 ? nil : [group: .scalar(.integer(number))]
        }
        let client = UInt64.random(in: 0...4, using: &random)
        let origin = client == 0 ? nil : LogEntry.Origin(client: client, upload: .random(in: 1...9, using: &random))
        let address = ObjectAddress(type: 0, key: .integer(Int64.random(in: 0...20, using: &random)))
        let isTouch = origin != nil && Int.random(in: 0..<5, using: &random) == 0
        var entry = LogEntry(address: address, old: values(), new: values(), origin: origin, isTouch: isTouch)
        entry.isUnseen = !isTouch && Int.random(in: 0..<8, using: &random) == 0
        let isEmpty = origin != nil && Int.random(in: 0..<10, using: &random) == 0
        return LoggedEntry(
            isEmpty ? nil : entry, origin: origin, transaction: .random(in: 90..<130, using: &random), bytes: 10)
    }

    private static func cursor(_ random: inout SeededRandom, below limit: UInt64) -> SnapshotCursor? {
        let xmax = UInt64.random(in: 95...limit, using: &random)
        let open = (xmax - 5..<xmax).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        let xmin = open.first ?? xmax
        return SnapshotCursor(SyncCursor("\(xmin):\(xmax):\(open.map(String.init).joined(separator: ","))"))
    }

    @Test("each session gets the entries between its cursors that match its queries or come from its client")
    func random() throws {
        var random = SeededRandom(seed: 7)
        var (given, served) = (0, 0)
        for _ in 0..<300 {
            var requests: [CatchUp.Request] = []
            while requests.count < 5 {
                let groups = Set((0...5).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }.map(Int64.init))
                guard let end = Self.cursor(&random, below: 130), let start = Self.cursor(&random, below: end.xmax),
                    let request = CatchUp.Request(
                        .random(in: 1...4, using: &random), Self.filter(groups), Self.version, after: start.cursor,
                        until: end.cursor)
                else { continue }
                requests.append(request)
            }
            let entries = (0..<60).map { _ in Self.entry(&random) }
            var catchUp = CatchUp(requests)
            let first = try #require(SnapshotCursor(catchUp.start))
            let last = try #require(SnapshotCursor(catchUp.end))
            #expect(requests.allSatisfy { first.isContained(in: $0.start) })
            for logged in entries where !first.contains(logged.transaction) { try catchUp.add(logged) }
            catchUp.finish()
            for (request, outcome) in zip(requests, catchUp.outcomes) where request.end.isContained(in: last) {
                let batch = if case .batch(let batch) = outcome { Optional(batch) } else { nil as ClientBatch? }
                let seen = entries.filter {
                    !request.start.contains($0.transaction) && request.end.contains($0.transaction)
                }
                let expected = seen.compactMap { logged -> LogEntry? in
                    guard let entry = logged.entry else { return nil }
                    let isOwn = entry.origin?.client == request.client
                    return isOwn || !entry.isTouch && request.filter.concerns(entry) ? entry : nil
                }
                let uploads = seen.filter { $0.origin?.client == request.client }.compactMap { $0.origin?.upload }
                #expect(batch?.entries == expected && batch?.storedUpload == uploads.max() ?? 0)
                #expect(batch?.cursor == request.end.cursor)
                given += entries.count
                served += expected.count
            }
        }
        #expect(served > given / 20 && served < given / 2)
    }

    @Test("a session reads the log alone if the checksums of its cursors contradict the entries between them")
    func checksums() throws {
        var random = SeededRandom(seed: 8)
        var refusedCount = 0
        for _ in 0..<300 {
            let entries = (0..<40).map { _ in
                (UInt64.random(in: 90..<130, using: &random), Int64(Int32.random(in: .min ... .max, using: &random)))
            }
            func sum(_ cursor: SnapshotCursor) -> Int64 {
                entries.reduce(0) { $0 &+ (cursor.contains($1.0) ? $1.1 : 0) }
            }
            var requests: [CatchUp.Request] = []
            var expected: [Bool] = []
            while requests.count < 5 {
                guard let end = Self.cursor(&random, below: 130), let start = Self.cursor(&random, below: end.xmax),
                    start.isContained(in: end)
                else { continue }
                // A client of another history of the database has seen an entry that the log does not contain.
                let lost: Int64 = Bool.random(using: &random) ? 0 : 4_711
                let request = CatchUp.Request(
                    1, Self.filter([1]), Self.version, after: start.with(checksum: sum(start) &+ lost).cursor,
                    until: end.with(checksum: sum(end)).cursor)
                requests.append(try #require(request))
                expected.append(lost == 0)
            }
            var catchUp = CatchUp(requests)
            let (first, last) = (SnapshotCursor(catchUp.start), try #require(SnapshotCursor(catchUp.end)))
            for (transaction, nonce) in entries
            where first?.contains(transaction) == false && last.contains(transaction) {
                catchUp.count(transaction, nonce)
            }
            catchUp.finish()
            for (position, outcome) in catchUp.outcomes.enumerated() where requests[position].end.isContained(in: last)
            {
                let isServed = if case .batch = outcome { true } else { false }
                #expect(isServed == expected[position])
                refusedCount += isServed ? 0 : 1
            }
        }
        #expect(refusedCount > 100)
    }

    @Test("a session that exceeds a limit gets no entries from the shared read; other sessions get their entries")
    func limits() throws {
        func outcomes(_ adjust: (inout CatchUp.Limits) -> Void) throws -> [String] {
            let requests = try [1, 2].map { client in
                try #require(
                    CatchUp.Request(
                        UInt64(client), Self.filter([Int64(client)]), Self.version, after: SyncCursor("90:90:"),
                        until: SyncCursor("130:130:")))
            }
            var limits = CatchUp.Limits()
            adjust(&limits)
            var catchUp = CatchUp(requests, limits: limits)
            for number in 0..<4 {
                let values: [ValuePath: SyncValue] = [Self.group: .scalar(.integer(number < 3 ? 1 : 2))]
                let address = ObjectAddress(type: 0, key: .integer(Int64(number)))
                let entry = LogEntry(address: address, old: nil, new: values, origin: nil)
                do {
                    try catchUp.add(LoggedEntry(entry, origin: nil, transaction: 100, bytes: 10))
                } catch {
                    return catchUp.outcomes.map { "\($0)" } + ["ended"]
                }
            }
            catchUp.finish()
            return catchUp.outcomes.map { outcome in
                if case .batch(let batch) = outcome { "\(batch.entries.count)" } else { "\(outcome)" }
            }
        }
        #expect(try outcomes { _ in } == ["3", "1"])
        #expect(try outcomes { $0.requestBytes = 25 } == ["tooManyChanges", "1"])
        #expect(try outcomes { $0.entries = 2 } == ["alone", "1"])
        #expect(try outcomes { $0.bytes = 25 } == ["alone", "alone", "ended"])
    }

    @Test("a read begins after the transactions that the cursors of all sessions contain")
    func start() throws {
        let requests = try ["50:101:50", "50:105:50,103", "98:99:98"].map { cursor in
            try #require(
                CatchUp.Request(
                    1, Self.filter([1]), Self.version, after: SyncCursor(cursor), until: SyncCursor("130:130:")))
        }
        #expect(CatchUp(Array(requests.prefix(2))).start.text == "50:101:50")
        #expect(CatchUp(requests).start.text == "50:99:50,98")
    }

    @Test("sessions that wait during a read share the next read, and old cursors do not delay sessions with new ones")
    func coalescing() async throws {
        let log = ReadLog()
        let reader = CatchUpReader(limits: CatchUp.Limits()) { catchUp in
            await log.add(catchUp)
            if catchUp.start.text == "1999001:1999001:" { throw LogReaderError.unknownCursor }
            var catchUp = catchUp
            catchUp.finish()
            return catchUp.outcomes
        }
        func request(_ client: UInt64, after transaction: UInt64) throws -> CatchUp.Request {
            try #require(
                CatchUp.Request(
                    client, Self.filter([1]), Self.version, after: SyncCursor("\(transaction):\(transaction):"),
                    until: SyncCursor("2000000:2000000:")))
        }
        // The first cursor is not valid, and the last one is old.
        let requests = try (1...50).map { try request(UInt64($0), after: $0 == 50 ? 5 : 1_999_000 + UInt64($0)) }
        let alone = try await withThrowingTaskGroup(of: UInt64?.self) { group in
            for request in requests {
                group.addTask {
                    if case .batch = try await reader.outcome(request) { nil } else { request.client }
                }
            }
            return try await group.reduce(into: Set<UInt64>()) { if let client = $1 { $0.insert(client) } }
        }
        #expect(alone.isSubset(of: [1, 50]) && alone.contains(1))
        #expect(await log.starts.count < 50)
    }

    private actor ReadLog {
        var starts: [String] = []

        func add(_ catchUp: CatchUp) async {
            starts.append(catchUp.start.text)
            for _ in 0..<100 { await Task.yield() }
        }
    }
}
