#if Sync
    package import Foundation
    package import MartletSyncProtocol
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOWebSocket

    /// The error of a client that could not connect to the service.
    package struct ConnectionFailure: Error, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// A connection of a client to the service. Both sides send each message in a binary frame.
    package struct WebSocketConnection: Sendable {
        private let outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>

        package func send(_ message: ClientMessage) async throws {
            // A client must mask its frames (RFC 6455, section 5.3).
            let data = ByteBuffer(bytes: message.encoded())
            try await outbound.write(WebSocketFrame(fin: true, opcode: .binary, maskKey: .random(), data: data))
        }

        /// Sends a ping. The service answers with a pong, so that neither side closes the connection because of
        /// silence.
        package func ping() async throws {
            try await outbound.write(WebSocketFrame(fin: true, opcode: .ping, maskKey: .random(), data: ByteBuffer()))
        }

        /// The messages of the service. The sequence ends when the service closes the connection. Its iterator throws
        /// if the connection fails, or if the bytes of a frame are not a message.
        package struct Messages: AsyncSequence {
            package typealias Element = ServiceMessage

            let inbound: NIOAsyncChannelInboundStream<WebSocketFrame>
            let outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>

            package struct AsyncIterator: AsyncIteratorProtocol {
                var frames: NIOAsyncChannelInboundStream<WebSocketFrame>.AsyncIterator
                let outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>

                package mutating func next() async throws -> ServiceMessage? {
                    while let frame = try await frames.next() {
                        switch frame.opcode {
                        case .binary:
                            return try ServiceMessage(
                                Array(frame.unmaskedData.readableBytesView), limits: .forServiceMessages)
                        case .ping:
                            try await outbound.write(
                                WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData))
                        case .pong: break
                        default: return nil
                        }
                    }
                    return nil
                }
            }

            package func makeAsyncIterator() -> AsyncIterator {
                AsyncIterator(frames: inbound.makeAsyncIterator(), outbound: outbound)
            }
        }

        private enum Upgrade {
            case webSocket(NIOAsyncChannel<WebSocketFrame, WebSocketFrame>)
            case refused
        }

        /// Connects, and closes the connection when `body` returns.
        ///
        /// - Parameters:
        ///   - url: the address of the service, with the scheme `ws`, or `wss` for TLS.
        ///   - subprotocols: the names that the client offers, separated by commas.
        ///   - timeoutMilliseconds: the time limit for the TCP connection, and for the handshakes of TLS and WebSocket.
        /// - Throws: `ConnectionFailure` if the client cannot connect to a service at the address; errors of the TLS
        ///   configuration; the error of `body`.
        package static func withConnection<Result: Sendable>(
            _ url: URL, subprotocols: String = "\(SyncProtocol.auditSubprotocol), \(SyncProtocol.subprotocol)",
            timeoutMilliseconds: Int64 = 10_000,
            _ body: @Sendable (WebSocketConnection, Messages) async throws -> Result
        ) async throws -> Result {
            guard let scheme = url.scheme?.lowercased(), ["ws", "wss"].contains(scheme), let host = url.host else {
                throw ConnectionFailure(
                    "'\(url)' is not the address of a sync service; expected wss://host:port or ws://host:port")
            }
            let tls = scheme == "wss" ? try TransportSecurity(host: host) : nil
            let negotiation: EventLoopFuture<Upgrade>
            do {
                negotiation = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connectTimeout(.milliseconds(timeoutMilliseconds))
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .connect(host: host, port: url.port ?? (tls == nil ? 80 : 443)) { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try tls?.add(to: channel)
                            let upgrade = try upgrade(channel, host, subprotocols)
                            let limit = channel.eventLoop.scheduleTask(in: .milliseconds(timeoutMilliseconds)) {
                                channel.close(promise: nil)
                            }
                            upgrade.whenComplete { _ in limit.cancel() }
                            return upgrade
                        }
                    }
            } catch {
                throw ConnectionFailure("no connection to '\(url)': \(error)")
            }
            let result: Upgrade
            do {
                result = try await negotiation.get()
            } catch {
                throw ConnectionFailure("no sync service has answered at '\(url)': \(error)")
            }
            guard case .webSocket(let channel) = result else {
                throw ConnectionFailure("'\(url)' is not a sync service, or does not have version 1 of the protocol")
            }
            return try await channel.executeThenClose { inbound, outbound in
                try await body(
                    WebSocketConnection(outbound: outbound), Messages(inbound: inbound, outbound: outbound))
            }
        }

        private static func upgrade(
            _ channel: any Channel, _ host: String, _ subprotocols: String
        ) throws -> EventLoopFuture<Upgrade> {
            let limit = MessageLimits.forServiceMessages.messageBytes
            let upgrader = NIOTypedWebSocketClientUpgrader<Upgrade>(maxFrameSize: limit) { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOWebSocketFrameAggregator(
                            minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 64, maxAccumulatedFrameSize: limit),
                        IdleStateHandler(readTimeout: .seconds(SyncProtocol.silenceSeconds)), SilenceHandler(),
                    ])
                    return .webSocket(try NIOAsyncChannel(wrappingChannelSynchronously: channel))
                }
            }
            let headers = HTTPHeaders([
                ("host", host), ("content-length", "0"),
                ("sec-websocket-protocol", subprotocols),
            ])
            let request = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/martlet/sync", headers: headers)
            return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                configuration: .init(
                    upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
                        upgradeRequestHead: request, upgraders: [upgrader],
                        notUpgradingCompletionHandler: { $0.eventLoop.makeSucceededFuture(.refused) })))
        }
    }

    /// Closes a connection over which the client has received nothing for `SyncProtocol.silenceSeconds`. A failed
    /// network or service may leave the connection open.
    private final class SilenceHandler: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case IdleStateHandler.IdleStateEvent.read = event { return context.close(promise: nil) }
            context.fireUserInboundEventTriggered(event)
        }
    }
#endif
