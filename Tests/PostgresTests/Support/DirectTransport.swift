#if Postgres
    import Foundation
    import MartletSync
    import MartletSyncProtocol
    import MartletSyncService
    import Synchronization

    /// Connects clients to the services of this process without a network. The port of the URL selects the service.
    struct DirectTransport: SyncTransport {
        struct Unreachable: Error {}

        private struct Services {
            var byPort: [Int: DirectService] = [:]
            var lastPort = 0
        }

        private static let services = Mutex(Services())

        /// Adds a service, and returns its port.
        ///
        /// - Parameter port: 0 for a new port; otherwise the port of a removed service that this service replaces. The
        ///   ports of removed services are not used as new ports, because clients may still try to connect to them.
        static func add(_ service: DirectService, _ port: Int) -> Int {
            services.withLock { services in
                if port == 0 { services.lastPort += 1 }
                let port = port == 0 ? services.lastPort : port
                services.byPort[port] = service
                return port
            }
        }

        static func remove(_ port: Int) { services.withLock { $0.byPort[port] = nil } }

        func hash(of schema: AgreedSchema) -> [UInt8] { SchemaHash.of(schema) }

        func run(
            _ url: URL, connected: @escaping @Sendable () async -> Void, output: AsyncStream<ClientMessage>,
            received: @escaping @Sendable (ServiceMessage) async -> Void
        ) async throws {
            guard let service = Self.services.withLock({ $0.byPort[url.port ?? 0] }) else { throw Unreachable() }
            try await service.withSession { session in
                await connected()
                try await withTaskCancellationHandler {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask {
                            while let frame = await session.nextOutput() {
                                await received(try ServiceMessage(frame, limits: .forServiceMessages))
                            }
                        }
                        group.addTask { for await message in output { await session.received(message.encoded()) } }
                        // When one direction ends, the session is disconnected, and the other direction is cancelled.
                        let end = await group.nextResult()
                        await session.disconnected()
                        group.cancelAll()
                        try end?.get()
                    }
                } onCancel: {
                    Task { await session.disconnected() }
                }
            }
        }
    }

    /// A sync service without a network.
    final class DirectService: Sendable {
        private struct State {
            var openCount = 0
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let registry = SessionRegistry()
        private let database: PostgresServiceDatabase
        private let state = Mutex(State())

        init(_ database: PostgresServiceDatabase) { self.database = database }

        var sessions: [SessionDriver] { registry.all }

        func logChanged(_ sessions: Set<SessionID>?) async { await registry.logChanged(sessions) }

        fileprivate func withSession(_ body: (SessionDriver) async throws -> Void) async throws {
            let session = SessionDriver(ServiceSession(compile: database.compile), database)
            await session.supportAudits()
            guard registry.add(session) else { throw DirectTransport.Unreachable() }
            state.withLock { $0.openCount += 1 }
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(session))
            } catch {
                result = .failure(error)
            }
            await session.disconnected()
            registry.remove(session)
            let finished = state.withLock { state in
                state.openCount -= 1
                defer { if state.openCount == 0 { state.waiting = [] } }
                return state.openCount == 0 ? state.waiting : []
            }
            finished.forEach { $0.resume() }
            try result.get()
        }

        /// Ends all sessions, and waits until they have ended.
        func stop() async {
            await registry.endAll()
            await withCheckedContinuation { continuation in
                let isEmpty = state.withLock { state in
                    if state.openCount > 0 { state.waiting.append(continuation) }
                    return state.openCount == 0
                }
                if isEmpty { continuation.resume() }
            }
        }
    }
#endif
