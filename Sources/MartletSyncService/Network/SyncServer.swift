#if Sync
    import Foundation
    import MartletSyncProtocol
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOWebSocket

    /// Accepts the WebSocket connections of clients at `/martlet/sync`, and answers HTTP requests for the health and
    /// the metrics of the service.
    package struct SyncServer: Sendable {
        package struct Options: Sendable {
            package var host = "127.0.0.1"
            /// The port; 0 lets the system choose a free port.
            package var port = 7_500
            /// The certificate for TLS; nil for connections without TLS.
            package var certificate: ServerCertificate?
            /// The largest message of a client, in bytes.
            package var messageBytes = 1 << 20
            /// The interval, in milliseconds, at which open sessions check their time limits.
            package var tickMilliseconds = 1_000
            /// The time, in milliseconds, within which a client must send its HTTP request.
            package var requestMilliseconds: Int64 = 10_000
            /// The time, in milliseconds, after which the server closes a connection if the client has sent nothing.
            /// A client sends a ping every 30 seconds.
            package var silenceMilliseconds = Int64(SyncProtocol.silenceSeconds) * 1_000
            /// The time, in milliseconds, that the sessions have to end when the service shuts down.
            package var shutdownMilliseconds = 10_000

            package init() {}
        }

        enum Connection {
            /// The client understands `ServiceMessage.audit` if `supportsAudits` is true.
            case webSocket(NIOAsyncChannel<WebSocketFrame, WebSocketFrame>, supportsAudits: Bool)
            case http(NIOAsyncChannel<HTTPServerRequestPart, HTTPPart<HTTPResponseHead, ByteBuffer>>)
        }

        static let path = "/martlet/sync"

        let options: Options
        let registry = SessionRegistry()
        private let makeSession: @Sendable () -> SessionDriver
        private let metrics: @Sendable () -> String

        /// - Parameters:
        ///   - makeSession: makes the session of a new connection.
        ///   - metrics: the metrics of the service, in the text format of Prometheus.
        package init(
            _ options: Options, metrics: @escaping @Sendable () -> String = { "" },
            makeSession: @escaping @Sendable () -> SessionDriver
        ) {
            self.options = options
            self.metrics = metrics
            self.makeSession = makeSession
        }

        /// Informs sessions that the log may have new entries for them.
        ///
        /// - Parameter sessions: the sessions; nil for all sessions.
        package func logChanged(_ sessions: Set<SessionID>? = nil) async { await registry.logChanged(sessions) }

        package var sessionCount: Int { registry.count }

        /// The open sessions.
        package var sessions: [SessionDriver] { registry.all }

        /// Serves until the current task is cancelled. The server then asks all clients to connect again, and waits
        /// until their sessions have ended.
        ///
        /// - Parameter started: called with the port when the server accepts connections.
        /// - Throws: if the server cannot listen at the address.
        package func run(started: @Sendable (Int) -> Void = { _ in }) async throws {
            let server = try await listen()
            started(server.channel.localAddress?.port ?? options.port)
            await withDiscardingTaskGroup { group in
                group.addTask { await tick() }
                await withTaskCancellationHandler {
                    await accept(server)
                } onCancel: {
                    server.channel.close(promise: nil)
                }
                group.cancelAll()
            }
        }

        private func tick() async {
            while !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(options.tickMilliseconds))
                await registry.tick(UInt64(Date().timeIntervalSince1970 * 1_000))
            }
        }

        // Serves connections until the server channel is closed, and then ends the sessions. The connections run in a
        // detached task, so that the cancellation of the current task does not cancel them: each connection can still
        // send its last message.
        private func accept(_ server: NIOAsyncChannel<EventLoopFuture<Connection>, Never>) async {
            let connections = Task.detached {
                await withDiscardingTaskGroup { group in
                    try? await server.executeThenClose { inbound in
                        for try await negotiation in inbound {
                            group.addTask { await serve(negotiation) }
                        }
                    }
                }
            }
            await untilClosed(server.channel)
            await registry.endAll()
            let limit = Task.detached {
                try await Task.sleep(for: .milliseconds(options.shutdownMilliseconds))
                connections.cancel()
            }
            await connections.value
            limit.cancel()
        }

        private func untilClosed(_ channel: any Channel) async {
            await Task.detached { try? await channel.closeFuture.get() }.value
        }

        private func serve(_ negotiation: EventLoopFuture<Connection>) async {
            // Errors are ignored, because an error ends only this connection.
            switch try? await negotiation.get() {
            case .webSocket(let channel, let supportsAudits)?: await serve(channel, supportsAudits: supportsAudits)
            case .http(let channel)?: await answer(channel)
            case nil: break
            }
        }

        private func serve(
            _ channel: NIOAsyncChannel<WebSocketFrame, WebSocketFrame>, supportsAudits: Bool
        ) async {
            let driver = makeSession()
            if supportsAudits { await driver.supportAudits() }
            guard registry.add(driver) else {
                _ = try? await channel.channel.close()
                return
            }
            await ClientConnection(driver).run(channel)
            await driver.disconnected()
            registry.remove(driver)
        }

        private func answer(
            _ channel: NIOAsyncChannel<HTTPServerRequestPart, HTTPPart<HTTPResponseHead, ByteBuffer>>
        ) async {
            try? await channel.executeThenClose { inbound, outbound in
                for try await part in inbound {
                    guard case .head(let request) = part else { continue }
                    try await outbound.write(contentsOf: response(request, channel.channel.allocator))
                    return
                }
            }
        }

        private func response(
            _ request: HTTPRequestHead, _ allocator: ByteBufferAllocator
        ) -> [HTTPPart<HTTPResponseHead, ByteBuffer>] {
            let (status, text): (HTTPResponseStatus, String) =
                switch (request.method, request.uri) {
                case (.GET, "/health"): (.ok, "ok\n")
                case (.GET, "/metrics"):
                    (.ok, metrics() + "# TYPE martlet_sync_sessions gauge\nmartlet_sync_sessions \(registry.count)\n")
                case (_, Self.path): (.upgradeRequired, "connect with a WebSocket\n")
                default: (.notFound, "not found\n")
                }
            var headers = HTTPHeaders([("content-type", "text/plain; version=0.0.4"), ("connection", "close")])
            headers.add(name: "content-length", value: "\(text.utf8.count)")
            return [
                .head(HTTPResponseHead(version: .http1_1, status: status, headers: headers)),
                .body(allocator.buffer(string: text)), .end(nil),
            ]
        }

        // MARK: Listening

        private func listen() async throws -> NIOAsyncChannel<EventLoopFuture<Connection>, Never> {
            try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.backlog, value: 1_024)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .bind(host: options.host, port: options.port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try options.certificate?.add(to: channel)
                        let negotiation = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
                            configuration: .init(
                                upgradeConfiguration: NIOTypedHTTPServerUpgradeConfiguration(
                                    upgraders: [upgrader], notUpgradingCompletionHandler: Self.plainHTTP)))
                        let limit = channel.eventLoop.scheduleTask(in: .milliseconds(options.requestMilliseconds)) {
                            channel.close(promise: nil)
                        }
                        negotiation.whenComplete { _ in limit.cancel() }
                        return negotiation
                    }
                }
        }

        private static func plainHTTP(_ channel: any Channel) -> EventLoopFuture<Connection> {
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(ResponseBodyEncoder())
                return .http(try NIOAsyncChannel(wrappingChannelSynchronously: channel))
            }
        }

        private var upgrader: NIOTypedWebSocketServerUpgrader<Connection> {
            let limit = options.messageBytes
            let silence = TimeAmount.milliseconds(options.silenceMilliseconds)
            return NIOTypedWebSocketServerUpgrader(
                maxFrameSize: limit,
                shouldUpgrade: { channel, request in
                    // A request without the right path and subprotocol gets a plain HTTP response.
                    guard request.uri == Self.path, let name = Self.subprotocol(request) else {
                        return channel.eventLoop.makeSucceededFuture(nil)
                    }
                    let headers = HTTPHeaders([("sec-websocket-protocol", name)])
                    return channel.eventLoop.makeSucceededFuture(headers)
                },
                upgradePipelineHandler: { channel, request in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers([
                            NIOWebSocketFrameAggregator(
                                minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 64, maxAccumulatedFrameSize: limit
                            ),
                            IdleStateHandler(readTimeout: silence), SilenceHandler(),
                        ])
                        return .webSocket(
                            try NIOAsyncChannel(wrappingChannelSynchronously: channel),
                            supportsAudits: Self.subprotocol(request) == SyncProtocol.auditSubprotocol)
                    }
                })
        }

        // The subprotocol that the server chooses; nil if the client offers none that the server knows.
        private static func subprotocol(_ request: HTTPRequestHead) -> String? {
            let offered = request.headers[canonicalForm: "sec-websocket-protocol"]
            return [SyncProtocol.auditSubprotocol, SyncProtocol.subprotocol].first { name in
                offered.contains { $0 == name }
            }
        }
    }

    /// Closes a connection if the client has sent nothing for a while. The client may have lost its network without
    /// closing the connection.
    private final class SilenceHandler: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case IdleStateHandler.IdleStateEvent.read = event { return context.close(promise: nil) }
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Converts a response with a `ByteBuffer` as its body to the parts that the HTTP handlers of NIO expect.
    private final class ResponseBodyEncoder: ChannelOutboundHandler {
        typealias OutboundIn = HTTPPart<HTTPResponseHead, ByteBuffer>
        typealias OutboundOut = HTTPServerResponsePart

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            switch unwrapOutboundIn(data) {
            case .head(let head): context.write(wrapOutboundOut(.head(head)), promise: promise)
            case .body(let buffer): context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: promise)
            case .end(let trailers): context.write(wrapOutboundOut(.end(trailers)), promise: promise)
            }
        }
    }
#endif
