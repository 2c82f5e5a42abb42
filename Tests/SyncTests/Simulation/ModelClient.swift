import MartletSync
import MartletSyncProtocol
import MartletValues

/// A client with its file, its program and its connection.
final class ModelClient {
    /// What survives a crash.
    private(set) var stored = ClientState()
    private(set) var rows: ModelRows = [:]
    private var session: ClientSession?
    private var service: ModelServiceSession?
    /// Messages in transit. A connection delivers them in order, or breaks.
    private(set) var toService: [ClientMessage] = []
    private(set) var toClient: [ServiceMessage] = []
    /// A connection that the client has given up. The service may still receive messages that were in transit.
    private var former: (service: ModelServiceSession, messages: [ClientMessage])?
    private var greatestCursor = -1
    /// Milliseconds by which the wall clock is wrong.
    let clockError: Int64
    private(set) var failure: String?

    init(clockError: Int64) { self.clockError = clockError }

    var isConnected: Bool { session != nil }
    var isIdle: Bool { toService.isEmpty && toClient.isEmpty && service?.isBusy != true }

    private func wall(_ now: UInt64) -> UInt64 { UInt64(max(0, Int64(now) + clockError)) }

    func connect(_ server: ModelServer, splits: Bool) {
        guard session == nil else { return }
        service = ModelServiceSession(server, splits: splits)
        let session = ClientSession(stored, schemaHash: [], token: "")
        self.session = session
        perform(session.begin(), server)
    }

    func disconnect() {
        if let service { former = (service, toService) }
        (session, service) = (nil, nil)
        (toService, toClient) = ([], [])
    }

    /// Applies operations and adds them to the outbox, in one transaction. A program can change only objects that it
    /// sees, so operations on other objects are left out.
    func write(_ possible: [SyncOperation], _ now: UInt64, _ server: ModelServer) {
        var operations: [SyncOperation] = []
        for operation in possible {
            if case .create = operation {} else if rows[operation.address] == nil { continue }
            apply(operation)
            operations.append(operation)
        }
        change(server) { $0.write(operations, wall: self.wall(now)) }
    }

    func subscribe(_ queries: [SubscribedQuery], _ server: ModelServer) { change(server) { $0.subscribe(queries) } }

    private func change(_ server: ModelServer, _ body: (inout ClientState) -> Void) {
        guard session != nil else { return body(&stored) }
        let actions = session?.localChange(body) ?? []
        stored = session?.state ?? stored
        perform(actions, server)
    }

    private func apply(_ operation: SyncOperation) {
        switch operation {
        case .create(let address, let values): rows[address] = (rows[address] ?? [:]).merging(values) { $1 }
        case .update(let address, let values): if rows[address] != nil { rows[address]?.merge(values) { $1 } }
        case .delete(let address): rows[address] = nil
        default: break
        }
    }

    /// Delivers one message to the service.
    func deliverToService() {
        guard !toService.isEmpty, let service else { return }
        let bytes = toService.removeFirst().encoded()
        guard let message = try? ClientMessage(bytes) else { return fail("a message cannot be decoded") }
        toClient += service.receive(message)
    }

    /// Runs the task of the service for this client.
    func runTask(_ now: UInt64, refuses: (SyncOperation) -> Bool) {
        toClient += service?.runTask(now, refuses: refuses) ?? []
    }

    /// Delivers one message that the client sent on its former connection, or runs a task of this connection.
    func deliverLate(_ now: UInt64) {
        guard let former else { return }
        if former.service.isBusy {
            _ = former.service.runTask(now, refuses: { _ in false })
        } else if let message = former.messages.first {
            self.former?.messages.removeFirst()
            _ = former.service.receive(message)
        }
    }

    func poll() { toClient += service?.poll() ?? [] }

    func tick(_ now: UInt64) { toClient += service?.tick(now) ?? [] }

    /// Delivers one message to the client. With `crashes`, the client crashes before it commits what follows from it.
    func deliverToClient(_ now: UInt64, crashes: Bool, _ server: ModelServer) {
        guard !toClient.isEmpty else { return }
        let bytes = toClient.removeFirst().encoded()
        guard let message = try? ServiceMessage(bytes) else { return fail("a message cannot be decoded") }
        // The service may end a connection, for example because the client did not send 'hello' in time.
        if case .failure(let failure) = message, failure.action == .retry { return disconnect() }
        let actions = session?.receive(message, wall: wall(now)) ?? []
        crashes ? disconnect() : perform(actions, server)
    }

    private func perform(_ actions: [ClientAction], _ server: ModelServer) {
        for action in actions {
            switch action {
            case .send(let message): toService.append(message)
            case .save: stored = session?.state ?? stored
            case .commit(let batch): commit(batch, server)
            case .close(let failure): fail("the session was closed: \(failure.message)")
            case .reverted, .refused, .marked, .renewToken: break
            }
        }
    }

    private func commit(_ batch: DownloadedBatch, _ server: ModelServer) {
        stored = session?.state ?? stored
        for address in batch.leaving { rows[address] = nil }
        for row in batch.rows { rows[row.address] = (rows[row.address] ?? [:]).merging(row.values) { $1 } }
        check(server)
    }

    // MARK: Invariants

    /// Checks that the client has the objects that the server had at the client's cursor and that its subscriptions
    /// contain. Objects that an upload in the outbox has touched are excepted.
    private func check(_ server: ModelServer) {
        guard let cursor = stored.position.flatMap({ Int($0.cursor.text) }) else { return }
        if cursor < greatestCursor { fail("the client goes back from version \(greatestCursor) to \(cursor)") }
        greatestCursor = cursor
        let expected = server.history[cursor].filter {
            ModelServiceSession.matches(stored.shown.queries, $0.key, $0.value)
        }
        let mask = UploadMask(stored.outbox)
        for address in Set(expected.keys).union(rows.keys) where !mask.contains(address) {
            if rows[address] != expected[address] {
                return fail(
                    "\(address) is \(String(describing: rows[address])) instead of \(String(describing: expected[address])) "
                        + "at version \(cursor)")
            }
        }
        checkOwnWrites()
    }

    // The newest value that an upload in the outbox has written is shown, unless a later one has deleted the object.
    private func checkOwnWrites() {
        var written: ModelRows = [:]
        for operation in stored.outbox.flatMap(\.operations) {
            switch operation {
            case .create(let address, let values): written[address] = (written[address] ?? [:]).merging(values) { $1 }
            case .update(let address, let values) where rows[address] != nil:
                written[address] = (written[address] ?? [:]).merging(values) { $1 }
            case .delete(let address): written[address] = nil
            default: break
            }
        }
        for (address, values) in written {
            for (path, value) in values where rows[address]?[path] != value {
                return fail("the own write \(address) \(path.properties) = \(value) is not shown")
            }
        }
    }

    /// Checks a client that has nothing left to do: its outbox is empty, its newest subscriptions are complete, and it
    /// has exactly the objects that they contain.
    func checkAtRest(_ server: ModelServer) {
        check(server)
        if !stored.outbox.isEmpty { fail("\(stored.outbox.count) uploads are left") }
        if stored.shown != stored.wanted { fail("the newest subscriptions are not complete") }
        let expected = server.rows.filter { ModelServiceSession.matches(stored.wanted.queries, $0.key, $0.value) }
        if rows != expected { fail("everything is delivered, but the client differs from the server") }
    }

    private func fail(_ message: String) { failure = failure ?? message }
}
