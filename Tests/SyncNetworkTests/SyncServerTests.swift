#if Sync
    import Foundation
    import MartletSync
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import NIOCore
    import NIOPosix
    import Synchronization
    import Testing

    /// A database without objects. Its version is the number of the newest upload.
    private final class SmallDatabase: ServiceDatabase {
        private let version = Mutex(0)

        func run(_ task: ServiceTask, _ context: SessionContext) async -> ServiceTaskResult {
            switch task {
            case .authenticate(let token):
                guard token == "good" else {
                    return .failed(.init(action: .signIn, message: "the token is not valid", delayMilliseconds: 0))
                }
                return .authenticated(.init(id: "ada"))
            case .open:
                return .opened(
                    .init(identity: .init(id: 1, secret: [1]), epoch: "a", milliseconds: 1_000, storedUpload: 0))
            case .read: return .read(batch())
            case .change:
                var writer = SubscriptionData.Writer()
                do { try writer.finish() } catch { preconditionFailure("\(error)") }
                return .changed(batch(), writer.data)
            case .store(let uploads):
                for upload in uploads { version.withLock { $0 = Int(upload.number) } }
                return .stored(reverted: [])
            case .sum: return .summed(batch(), RowSums())
            case .record: return .recorded(repairs: false)
            }
        }

        private func batch() -> ClientBatch {
            let version = version.withLock { $0 }
            return ClientBatch(cursor: SyncCursor("\(version)"), entries: [], storedUpload: UInt64(version))
        }
    }

    /// The messages `failure` that a client has received.
    private final class Failures: Sendable {
        let list = Mutex<[ServiceMessage.Failure]>([])
    }

    private func recordIssue(_ text: String) { Issue.record(Comment(rawValue: text)) }

    @Suite("the sync server and its connections", .timeLimit(.minutes(5)))
    struct SyncServerTests {
        /// Runs a server with a new `SmallDatabase` while `body` runs.
        private func withServer(
            _ adjust: (inout SyncServer.Options) -> Void = { _ in },
            _ body: @escaping @Sendable (SyncServer, URL) async throws -> Void
        ) async throws {
            var options = SyncServer.Options()
            options.port = 0
            options.tickMilliseconds = 10
            adjust(&options)
            let database = SmallDatabase()
            let server = SyncServer(options, metrics: { "example 7\n" }) {
                SessionDriver(ServiceSession { queries, _ in SubscriptionFilter(queries) { _, _ in true } }, database)
            }
            let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
            let running = Task { try await server.run { continuation.yield($0) } }
            var port = ports.makeAsyncIterator()
            let url = try #require(URL(string: "ws://127.0.0.1:\(await port.next() ?? 0)"))
            let result = await Task { try await body(server, url) }.result
            running.cancel()
            try await running.value
            try result.get()
            #expect(server.sessionCount == 0)
        }

        private func hello(_ token: String = "good") -> ClientMessage {
            .hello(
                .init(
                    identity: nil, schemaHash: [], position: nil, acknowledgedUpload: 0, subscriptionSet: 0,
                    queries: [],
                    token: token))
        }

        @Test("a client connects, gets a welcome, uploads, and gets the acknowledgement")
        func upload() async throws {
            try await withServer { _, url in
                try await WebSocketConnection.withConnection(url) { connection, messages in
                    var messages = messages.makeAsyncIterator()
                    try await connection.send(hello())
                    guard case .welcome? = try await messages.next(), case .changes? = try await messages.next() else {
                        return recordIssue("the client has not received 'welcome' and 'changes'")
                    }
                    try await connection.send(
                        .upload(.init(number: 1, base: SyncCursor("0"), time: .zero, operations: [])))
                    guard case .changes(let changes)? = try await messages.next() else {
                        return recordIssue("the client has not received 'changes'")
                    }
                    #expect(changes.acknowledgedUpload == 1)
                }
            }
        }

        @Test(
            "the service audits only clients that offer the subprotocol of audits",
            arguments: [true, false])
        func audit(isOffered: Bool) async throws {
            try await withServer { server, url in
                let names =
                    isOffered
                    ? "a, \(SyncProtocol.auditSubprotocol), \(SyncProtocol.subprotocol)" : "\(SyncProtocol.subprotocol)"
                try await WebSocketConnection.withConnection(url, subprotocols: names) { connection, messages in
                    var messages = messages.makeAsyncIterator()
                    try await connection.send(hello())
                    guard case .welcome? = try await messages.next(), case .changes? = try await messages.next() else {
                        return recordIssue("the client has not received 'welcome' and 'changes'")
                    }
                    for session in server.sessions { await session.audit(5) }
                    try await connection.send(.mark(1))
                    var received: [ServiceMessage] = []
                    while let message = try await messages.next() {
                        if message == .mark(1) { break }
                        received.append(message)
                    }
                    #expect(received.contains(.audit(5, SyncCursor("0"))) == isOffered)
                }
            }
        }

        @Test("an invalid token is refused with a reason, and the connection is closed")
        func token() async throws {
            try await withServer { _, url in
                try await WebSocketConnection.withConnection(url) { connection, messages in
                    var messages = messages.makeAsyncIterator()
                    try await connection.send(hello("bad"))
                    guard case .failure(let failure)? = try await messages.next() else {
                        return recordIssue("the client has not received 'failure'")
                    }
                    #expect(failure.action == .signIn)
                    let last = try await messages.next()
                    #expect(last == nil)
                }
            }
        }

        @Test("before the server stops, it asks the clients to connect again")
        func shutdown() async throws {
            let (starts, started) = AsyncStream.makeStream(of: Void.self)
            let failures = Failures()
            let (ends, ended) = AsyncStream.makeStream(of: Void.self)
            try await withServer { _, url in
                let client = Task {
                    try await WebSocketConnection.withConnection(url) { connection, messages in
                        try await connection.send(hello())
                        for try await message in messages {
                            if case .changes = message { started.yield() }
                            if case .failure(let failure) = message { failures.list.withLock { $0.append(failure) } }
                        }
                        ended.yield()
                    }
                }
                var iterator = starts.makeAsyncIterator()
                _ = await iterator.next()
                _ = client
            }
            var end = ends.makeAsyncIterator()
            _ = await end.next()
            #expect(failures.list.withLock { $0.map(\.action) } == [.retry])
        }

        @Test("the server answers HTTP requests for its health and its metrics, and returns 404 for other paths")
        func http() async throws {
            try await withServer { _, url in
                let expected = [
                    "/health": "200 OK",
                    "/metrics": "example 7\n# TYPE martlet_sync_sessions gauge\nmartlet_sync_sessions 0",
                    "/": "404 Not Found",
                    "/martlet/sync": "426 Upgrade Required",
                ]
                for (path, text) in expected {
                    let answer = try await get(path, url.port ?? 0)
                    #expect(answer.contains(text), "\(path)")
                }
            }
        }

        @Test("after bytes that are not an HTTP request or a message, the server closes only the affected connection")
        func hostile() async throws {
            try await withServer {
                // After this time, the server closes a connection that has sent no complete request. The valid requests
                // of this test must be faster, even on a busy machine.
                $0.requestMilliseconds = 3_000
            } _: { _, url in
                let port = url.port ?? 0
                _ = try? await exchange("\u{1}\u{2}\u{3}garbage\r\n\r\n", port)
                let upgrade =
                    "GET /martlet/sync HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
                    + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n"
                    + "sec-websocket-protocol: martlet.sync.1\r\n\r\n"
                // The header of this frame states a length of 2^62 bytes.
                _ = try? await exchange(upgrade + "\u{2}\u{7f}@\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}", port)
                let health = try await get("/health", port)
                #expect(health.contains("200 OK") && health.hasSuffix("ok\n"))
                try await WebSocketConnection.withConnection(url) { connection, messages in
                    var messages = messages.makeAsyncIterator()
                    try await connection.send(hello())
                    guard case .welcome? = try await messages.next() else { return recordIssue("no 'welcome'") }
                }
            }
        }

        @Test("if nothing listens at the address, connecting throws an error that names the address")
        func noService() async throws {
            let url = try #require(URL(string: "ws://127.0.0.1:1"))
            let failure = await #expect(throws: ConnectionFailure.self) {
                try await WebSocketConnection.withConnection(url) { _, _ in }
            }
            #expect(failure?.description.contains("ws://127.0.0.1:1") == true)
        }

        @Test("if a program accepts the connection but does not answer, connecting throws after a timeout")
        func silentProgram() async throws {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: "127.0.0.1", port: 0).get()
            let url = try #require(URL(string: "ws://127.0.0.1:\(channel.localAddress?.port ?? 0)"))
            await #expect(throws: ConnectionFailure.self) {
                try await WebSocketConnection.withConnection(url, timeoutMilliseconds: 100) { _, _ in }
            }
            try await channel.close()
        }

        @Test("the server disconnects a client that sends nothing for a certain time; pings keep the connection open")
        func silentClient() async throws {
            try await withServer({ $0.silenceMilliseconds = 500 }) { _, url in
                try await WebSocketConnection.withConnection(url) { connection, messages in
                    for _ in 0..<8 {
                        try await Task.sleep(for: .milliseconds(100))
                        try await connection.ping()
                    }
                    for try await _ in messages {}
                }
            }
        }

        // MARK: Plain connections

        private func get(_ path: String, _ port: Int) async throws -> String {
            try await exchange("GET \(path) HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n", port)
        }

        /// Sends a text, and returns all bytes that the server sends until it closes the connection.
        private func exchange(_ text: String, _ port: Int) async throws -> String {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
            return try await channel.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: text))
                var answer = ByteBuffer()
                for try await part in inbound { answer.writeImmutableBuffer(part) }
                return String(buffer: answer)
            }
        }
    }
#endif
