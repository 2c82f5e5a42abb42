#if Sync
    import MartletSyncProtocol
    import NIOCore
    import NIOWebSocket

    /// Passes frames between a WebSocket and its session, until one of them ends.
    struct ClientConnection: Sendable {
        private let driver: SessionDriver

        init(_ driver: SessionDriver) { self.driver = driver }

        func run(_ channel: NIOAsyncChannel<WebSocketFrame, WebSocketFrame>) async {
            try? await channel.executeThenClose { inbound, outbound in
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try? await receive(inbound, outbound)
                        // The client has closed the connection, or the connection broke. `disconnected` ends the
                        // session, so the task that sends frames also ends.
                        await driver.disconnected()
                    }
                    group.addTask { try? await send(outbound, channel.channel.allocator) }
                    // If the client takes no frames, the task that sends them does not end by itself.
                    group.addTask { await driver.untilOverdue() }
                    // Waits for the first task that ends. The task that sends frames ends after the last frame of the
                    // session, or after an error.
                    await group.next()
                    group.cancelAll()
                }
            }
        }

        private func receive(
            _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>,
            _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
        ) async throws {
            for try await frame in inbound {
                switch frame.opcode {
                case .binary: await driver.received(Array(frame.unmaskedData.readableBytesView))
                case .ping:
                    try await outbound.write(WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData))
                case .pong: break
                case .connectionClose: return
                default: await driver.end(.stop, "a frame has the opcode \(frame.opcode), which is not supported")
                }
            }
        }

        private func send(
            _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>, _ allocator: ByteBufferAllocator
        ) async throws {
            while let frame = await driver.nextOutput() {
                try await outbound.write(
                    WebSocketFrame(fin: true, opcode: .binary, data: allocator.buffer(bytes: frame)))
            }
            var code = allocator.buffer(capacity: 2)
            code.write(webSocketErrorCode: .normalClosure)
            try await outbound.write(WebSocketFrame(fin: true, opcode: .connectionClose, data: code))
        }
    }
#endif
