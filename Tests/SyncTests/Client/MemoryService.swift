import Foundation
import MartletSync
import MartletSyncProtocol
import MartletSyncService
import MartletValues
import Synchronization

/// A sync service with a database in memory, and connections without a network.
///
/// It uses the sessions of the real service. The database ignores the time stamps of uploads: if two uploads write the
/// same value, the one that arrives later wins.
final class MemoryService: SyncTransport, ServiceDatabase {
    private struct State {
        var rows: [ObjectAddress: [ValuePath: SyncValue]] = [:]
        var log: [LogEntry] = []
        var uploads: [UInt64: UInt64] = [:]
        var sessions: [Int: SessionDriver] = [:]
        var connections = 0
        var isReachable = true
        var epoch = "1"
        var refusedAddresses: Set<ObjectAddress> = []
        var refusesQueries = false
        var audits: [AuditResult] = []
    }

    private let state = Mutex(State())
    private let schema: AgreedSchema

    init(_ schema: AgreedSchema) { self.schema = schema }

    // MARK: Control

    /// The rows of the database.
    var rows: [ObjectAddress: [ValuePath: SyncValue]] { state.withLock { $0.rows } }

    /// The number of connections that clients have opened so far.
    var connections: Int { state.withLock { $0.connections } }

    /// The numbers of the newest stored uploads of all clients.
    var uploads: [UInt64] { state.withLock { Array($0.uploads.values) } }

    /// Makes the service reachable or unreachable. When it becomes unreachable, open connections break.
    func setReachable(_ isReachable: Bool) async {
        let sessions = state.withLock { state in
            state.isReachable = isReachable
            return Array(state.sessions.values)
        }
        if !isReachable { for session in sessions { await session.disconnected() } }
    }

    /// The results of audits.
    var audits: [AuditResult] { state.withLock { $0.audits } }

    /// Audits the connected clients.
    func audit() async { for session in state.withLock({ Array($0.sessions.values) }) { await session.audit(1) } }

    /// Sets the objects that the service refuses. It reverts uploaded changes of these objects.
    func refuse(_ addresses: Set<ObjectAddress>) { state.withLock { $0.refusedAddresses = addresses } }

    /// Sets whether the service refuses sets of subscriptions.
    func refuseQueries(_ refuses: Bool) { state.withLock { $0.refusesQueries = refuses } }

    /// Writes an object in a transaction of another program. If `values` is nil, deletes the object.
    func write(_ address: ObjectAddress, _ values: [ValuePath: SyncValue]?) async {
        state.withLock { Self.apply(address, values, nil, &$0) }
        await notify()
    }

    /// Changes a value without adding an entry to the log, so the change is not sent to clients.
    func changeSilently(_ address: ObjectAddress, _ path: ValuePath, _ value: SyncValue) {
        state.withLock { $0.rows[address]?[path] = value }
    }

    /// Replaces the database by a backup with these rows. The backup does not know the clients.
    func restore(_ rows: [ObjectAddress: [ValuePath: SyncValue]]) async {
        state.withLock { state in
            state.rows = rows
            (state.log, state.uploads, state.epoch) = ([], [:], "2")
        }
        await setReachable(false)
        await setReachable(true)
    }

    private static func apply(
        _ address: ObjectAddress, _ values: [ValuePath: SyncValue]?, _ origin: LogEntry.Origin?, _ state: inout State
    ) {
        let old = state.rows[address]
        if let values {
            state.rows[address, default: [:]].merge(values) { $1 }
        } else {
            state.rows[address] = nil
        }
        state.log.append(LogEntry(address: address, old: old, new: state.rows[address], origin: origin))
    }

    private func notify() async {
        for session in state.withLock({ Array($0.sessions.values) }) { await session.logChanged() }
    }

    // MARK: Transport

    private struct Unreachable: Error {}

    // This is not a cryptographic hash, but it differs between the schemas of these tests.
    func hash(of schema: AgreedSchema) -> [UInt8] { Array(schema.agreement.utf8.suffix(32)) }

    func run(
        _ url: URL, connected: @escaping @Sendable () async -> Void, output: AsyncStream<ClientMessage>,
        received: @escaping @Sendable (ServiceMessage) async -> Void
    ) async throws {
        let session = ServiceSession { [self] queries, _ throws(RefusedQueries) in try compile(queries) }
        let driver = SessionDriver(session, self)
        await driver.supportAudits()
        let number = state.withLock { state -> Int? in
            guard state.isReachable else { return nil }
            state.connections += 1
            state.sessions[state.connections] = driver
            return state.connections
        }
        guard let number else { throw Unreachable() }
        defer { state.withLock { $0.sessions[number] = nil } }
        await connected()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while let frame = await driver.nextOutput() {
                    if let message = try? ServiceMessage(frame) { await received(message) }
                }
            }
            group.addTask { for await message in output { await driver.received(message.encoded()) } }
            await group.next()
            await driver.disconnected()
            group.cancelAll()
        }
    }

    private func compile(_ queries: [SubscribedQuery]) throws(RefusedQueries) -> SubscriptionFilter {
        if state.withLock({ $0.refusesQueries }), !queries.isEmpty { throw RefusedQueries("the test refuses it") }
        var conditions: [(type: Int, condition: SubscriptionCondition)] = []
        for query in queries {
            guard let condition = try? SubscriptionCondition(encoded: query.condition) else {
                throw RefusedQueries("a condition cannot be decoded")
            }
            conditions.append((query.type, condition))
        }
        let compiled = conditions
        return SubscriptionFilter(queries) { address, values in
            compiled.contains { $0.type == address.type && $0.condition.matches(values: values) }
        }
    }

    // MARK: Database

    func run(_ task: ServiceTask, _ context: SessionContext) async -> ServiceTaskResult {
        let client = context.client?.id ?? 0
        switch task {
        case .authenticate(let token):
            if token.hasPrefix("expired") {
                return .failed(.init(action: .signIn, message: "the token is not valid", delayMilliseconds: 0))
            }
            return .authenticated(.init(id: token))
        case .open(let identity, _): return open(identity)
        case .read(let cursor, _, _): return .read(state.withLock { Self.batch(after: cursor, client, $0) })
        case .change(let cursor, let former, let new): return change(cursor, former, new, client)
        case .store(let uploads):
            let reverted = state.withLock { state in
                uploads.map { RevertedUpload(number: $0.number, objects: Self.store($0, client, &state)) }
            }
            await notify()
            return .stored(reverted: reverted.filter { !$0.objects.isEmpty })
        case .sum(let cursor, let queries): return sums(cursor, queries, client)
        case .record(let result):
            state.withLock { $0.audits.append(result) }
            return .recorded(repairs: result.differences?.isEmpty == false)
        }
    }

    private func sums(_ cursor: SyncCursor, _ queries: [SubscribedQuery], _ client: UInt64) -> ServiceTaskResult {
        guard let filter = try? compile(queries) else { return .recorded(repairs: false) }
        return state.withLock { state in
            var summer = RowSummer(schema)
            for (address, values) in state.rows where filter.contains(address, values) {
                summer.add(SyncRow(address: address, values: values))
            }
            return .summed(Self.batch(after: cursor, client, state), summer.sums)
        }
    }

    private func open(_ identity: ClientIdentity?) -> ServiceTaskResult {
        state.withLock { state in
            if let identity, state.uploads[identity.id] == nil {
                return .failed(
                    .init(action: .registerAgain, message: "the client is not known", delayMilliseconds: 0))
            }
            let id = identity?.id ?? UInt64(state.uploads.count + 1)
            let stored = state.uploads[id] ?? 0
            state.uploads[id] = stored
            return .opened(
                .init(
                    identity: .init(id: id, secret: [1]), epoch: state.epoch, milliseconds: 1_700_000_000_000,
                    storedUpload: stored))
        }
    }

    private static func batch(after cursor: SyncCursor?, _ client: UInt64, _ state: State) -> ClientBatch {
        let start = cursor.flatMap { Int($0.text) } ?? state.log.count
        return ClientBatch(
            cursor: SyncCursor("\(state.log.count)"), entries: Array(state.log.dropFirst(start)),
            storedUpload: state.uploads[client] ?? 0)
    }

    private func change(
        _ cursor: SyncCursor, _ former: [SubscribedQuery], _ new: [SubscribedQuery], _ client: UInt64
    ) -> ServiceTaskResult {
        let (state, before, after) = (state.withLock { $0 }, try? compile(former), try? compile(new))
        var (rows, leaving) = ([] as [SyncRow], [] as [ObjectAddress])
        for (address, values) in state.rows {
            let (was, isIn) = (before?.contains(address, values) ?? false, after?.contains(address, values) ?? false)
            if isIn, !was { rows.append(SyncRow(address: address, values: values)) }
            if was, !isIn { leaving.append(address) }
        }
        return .changed(Self.batch(after: cursor, client, state), SubscriptionData(rows: rows, leaving: leaving))
    }

    private static func store(_ upload: ClientMessage.Upload, _ client: UInt64, _ state: inout State)
        -> [RevertedObject]
    {
        guard upload.number == (state.uploads[client] ?? 0) + 1 else { return [] }
        state.uploads[client] = upload.number
        let origin = LogEntry.Origin(client: client, upload: upload.number)
        var reverted: [RevertedObject] = []
        for operation in upload.operations {
            let address = operation.address
            if state.refusedAddresses.contains(address) {
                reverted.append(RevertedObject(address: address, reason: .notPermitted, message: "not permitted"))
                let row = state.rows[address]
                state.log.append(LogEntry(address: address, old: row, new: row, origin: origin, isTouch: true))
                continue
            }
            switch operation {
            case .create(_, let values): apply(address, values, origin, &state)
            case .update(_, let values) where state.rows[address] != nil: apply(address, values, origin, &state)
            case .delete: apply(address, nil, origin, &state)
            default: break
            }
        }
        return reverted
    }
}
