import MartletSyncProtocol
import MartletSyncService
import MartletValues

/// One connection of the service. The tasks of its `ServiceSession` run on the model of the database. The simulation
/// decides when a task runs.
final class ModelServiceSession {
    private let server: ModelServer
    private var session: ServiceSession
    private var client: UInt64 = 0
    private var task: ServiceTask?
    private var hasRead = false

    /// - Parameter splits: whether every row is sent in a separate message.
    init(_ server: ModelServer, splits: Bool) {
        self.server = server
        var limits = ServiceSession.Limits()
        if splits { limits.rowBytesPerMessage = 1 }
        session = ServiceSession(limits: limits) { queries, _ in
            SubscriptionFilter(queries) { Self.matches(queries, $0, $1) }
        }
        session.supportsAudits = true
    }

    static func matches(_ queries: [SubscribedQuery], _ address: ObjectAddress, _ values: ModelValues) -> Bool {
        queries.contains { query in
            guard query.type == address.type, case .scalar(.integer(let group)) = values[ValuePath(0)] else {
                return false
            }
            return query.condition == [UInt8(truncatingIfNeeded: group)]
        }
    }

    var isBusy: Bool { task != nil }

    /// The uploads that the waiting task will store.
    var waitingUploads: [ClientMessage.Upload] { if case .store(let uploads)? = task { uploads } else { [] } }

    func receive(_ message: ClientMessage) -> [ServiceMessage] {
        if case .uploadPart = message, server.bug == .partsForgotten { return [] }
        return perform(session.receive(message))
    }

    /// Notifies the session that the log has changed. A later call of `runTask` reads the changes and returns them.
    func poll() -> [ServiceMessage] { perform(session.logChanged()) }

    func tick(_ now: UInt64) -> [ServiceMessage] { perform(session.tick(now)) }

    func audit() -> [ServiceMessage] { perform(session.audit(1)) }

    /// Runs the waiting task of the session, if there is one.
    func runTask(_ now: UInt64, refuses: (SyncOperation) -> Bool) -> [ServiceMessage] {
        guard let task else { return [] }
        self.task = nil
        var messages: [ServiceMessage] = []
        if case .store(let uploads) = task, server.bug == .earlyAcknowledgement {
            messages.append(
                .changes(
                    .init(
                        cursor: SyncCursor("\(server.version)"), acknowledgedUpload: uploads[0].number, rows: [],
                        leaving: [],
                        isLast: true)))
        }
        return messages + perform(session.finish(result(of: task, now, refuses)))
    }

    private func result(of task: ServiceTask, _ now: UInt64, _ refuses: (SyncOperation) -> Bool) -> ServiceTaskResult {
        switch task {
        case .authenticate: return .authenticated(.init(id: "user"))
        case .open(let identity, _):
            let opened = server.open(identity, now: now)
            client = opened.identity.id
            return .opened(opened)
        case .read(let cursor, let queries, _): return .read(read(after: cursor, queries))
        case .change(let cursor, let former, let new):
            let batch = read(after: cursor, former)
            if server.bug == .newerBootstrap { server.write(.init(type: 0, key: .integer(1)), Self.written) }
            return .changed(batch, difference(former, new))
        case .store(let uploads):
            let reverted = uploads.map { upload in
                RevertedUpload(number: upload.number, objects: server.store(upload, client, refuses: refuses))
            }
            return .stored(reverted: reverted.filter { !$0.objects.isEmpty })
        case .sum(let cursor, let queries):
            let batch = read(after: cursor, queries)
            let rows = server.rows.filter { Self.matches(queries, $0.key, $0.value) }
            return .summed(batch, ModelAudit.sums(rows, server.kind))
        case .record(let result): return .recorded(repairs: server.record(result))
        }
    }

    private static let written = Dictionary(
        uniqueKeysWithValues: (0...2).map { (ValuePath($0), SyncValue.scalar(.integer(Int64($0)))) })

    private func read(after cursor: SyncCursor?, _ queries: [SubscribedQuery]) -> ClientBatch {
        let start = cursor.flatMap { Int($0.text) } ?? server.version
        let isLost = !hasRead && server.bug == .changesOfGapLost
        hasRead = true
        var batch = ClientBatch(
            cursor: SyncCursor("\(server.version)"), entries: isLost ? [] : server.entries(after: start),
            storedUpload: server.storedUpload(client))
        let needed = ClientChanges.collections(batch.entries, for: client) { Self.matches(queries, $0, $1) }
        for (address, properties) in needed { batch.contents[address] = server.contents(of: address, properties) }
        return batch
    }

    private func difference(_ former: [SubscribedQuery], _ new: [SubscribedQuery]) -> SubscriptionData {
        let all = server.rows.sorted { "\($0.key)" < "\($1.key)" }
        let (before, after) = (
            all.filter { Self.matches(former, $0.key, $0.value) }, all.filter { Self.matches(new, $0.key, $0.value) }
        )
        return SubscriptionData(
            rows: after.filter { !Self.matches(former, $0.key, $0.value) }
                .map { SyncRow(address: $0.key, values: $0.value) },
            leaving: before.filter { !Self.matches(new, $0.key, $0.value) }.map(\.key))
    }

    private func perform(_ actions: [ServiceAction]) -> [ServiceMessage] {
        actions.flatMap { action -> [ServiceMessage] in
            switch action {
            case .run(let task):
                precondition(self.task == nil, "two tasks at a time")
                self.task = task
                return []
            case .send(.changes(var changes)) where server.bug == .leavingForgotten:
                changes.leaving = []
                return [.changes(changes)]
            case .send(let message): return [message]
            case .sendData(let data): return data.takeMessages()
            case .close: return []
            }
        }
    }
}
