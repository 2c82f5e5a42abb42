#if Sync
    package import Foundation
    package import MartletSyncProtocol

    /// Connects to the service with a WebSocket.
    package struct WebSocketTransport: SyncTransport {
        package init() {}

        package func hash(of schema: AgreedSchema) -> [UInt8] { SchemaHash.of(schema) }

        package func run(
            _ url: URL, connected: @escaping @Sendable () async -> Void, output: AsyncStream<ClientMessage>,
            received: @escaping @Sendable (ServiceMessage) async -> Void
        ) async throws {
            try await WebSocketConnection.withConnection(url) { connection, messages in
                await connected()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { for try await message in messages { await received(message) } }
                    group.addTask { for await message in output { try await connection.send(message) } }
                    group.addTask {
                        while true {
                            try await Task.sleep(for: .seconds(SyncProtocol.pingSeconds))
                            try await connection.ping()
                        }
                    }
                    // When one of the three tasks ends, the connection ends, so the other tasks are cancelled.
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        }
    }
#endif
