#if Postgres
    import Foundation
    import MartletSync
    import MartletSyncProtocol
    import MartletSyncService
    import Synchronization
    import Testing

    /// The transport of the clients: with the trait 'Sync' through the network, otherwise within the process.
    #if Sync
        let clientTransport: any SyncTransport = WebSocketTransport()
    #else
        let clientTransport: any SyncTransport = DirectTransport()
    #endif

    /// Runs an instance of the sync service while `body` runs.
    ///
    /// - Parameters:
    ///   - port: the port of the instance; 0 for any free port.
    ///   - body: gets the address of the instance.
    func withService(
        _ database: PostgresServiceDatabase, port: Int = 0, isolation: isolated (any Actor)? = #isolation,
        _ body: (URL) async throws -> Void
    ) async throws {
        #if Sync
            var options = SyncServer.Options()
            options.port = port
            let server = SyncServer(options) { SessionDriver(ServiceSession(compile: database.compile), database) }
            let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
            let running = Task { try await server.run { continuation.yield($0) } }
            var started = ports.makeAsyncIterator()
            let port = await started.next() ?? 0
            let watching = Task { await database.watch(milliseconds: 2) { await server.logChanged($0) } }
            let auditing = Task { await database.auditClients(milliseconds: 20) { server.sessions } }
        #else
            let service = DirectService(database)
            let port = DirectTransport.add(service, port)
            let watching = Task { await database.watch(milliseconds: 2) { await service.logChanged($0) } }
            let auditing = Task { await database.auditClients(milliseconds: 20) { service.sessions } }
        #endif
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(try #require(URL(string: "ws://127.0.0.1:\(port)"))))
        } catch {
            result = .failure(error)
        }
        watching.cancel()
        auditing.cancel()
        #if Sync
            running.cancel()
            try await running.value
        #else
            DirectTransport.remove(port)
            await service.stop()
        #endif
        try result.get()
    }
#endif
