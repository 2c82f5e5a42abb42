#if Sync
    import Foundation
    import MartletPostgres
    import MartletSync
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Synchronization
    import Testing

    /// The service with its network and PostgreSQL, and clients without files.
    @Suite("PostgreSQL: the whole service", .needsPostgres, .timeLimit(.minutes(2)))
    struct ServiceTests {
        private struct UnknownToken: Error {}

        private func database(_ sample: SampleDatabase) async throws -> PostgresServiceDatabase {
            try await PostgresServiceDatabase(
                ConnectionPool(sample.address, count: 3),
                compile: Self.compile,
                verify: { token in
                    guard token == "ada" else { throw UnknownToken() }
                    return AuthenticatedUser(id: token)
                },
                log: { print("service: \($0)") })
        }

        // A query contains all objects of its type.
        @Sendable private static func compile(_ queries: [SubscribedQuery]) throws(RefusedQueries) -> SubscriptionFilter
        {
            let types = Set(queries.map(\.type))
            return SubscriptionFilter(queries) { address, _ in types.contains(address.type) }
        }

        /// Runs an instance of the service while `body` runs.
        private func withService(
            _ database: PostgresServiceDatabase, _ body: @escaping @Sendable (URL) async throws -> Void
        ) async throws {
            var options = SyncServer.Options()
            options.port = 0
            let server = SyncServer(options) { SessionDriver(ServiceSession(compile: Self.compile), database) }
            let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
            let running = Task { try await server.run { continuation.yield($0) } }
            let watching = Task { await database.watch(milliseconds: 2) { await server.logChanged() } }
            var port = ports.makeAsyncIterator()
            let url = try #require(URL(string: "ws://127.0.0.1:\(await port.next() ?? 0)"))
            let result = await Task { try await body(url) }.result
            watching.cancel()
            running.cancel()
            try await running.value
            try result.get()
        }

        private func dogs(_ sample: SampleDatabase) -> [SubscribedQuery] {
            [SubscribedQuery(type: sample.dog, condition: [])]
        }

        @Test("writes of clients and of SQL reach the other clients, and PostgreSQL has them once")
        func writes() async throws {
            let sample = try SampleDatabase()
            let name = try sample.path(sample.dog, "name")
            let (ada, ben) = (MemoryClient(), MemoryClient())
            let rex = sample.dog(1)
            let values = try sample.values(["name": .text("Rex")])
            let (queries, address) = (dogs(sample), sample.address)
            try await withService(database(sample)) { url in
                for client in [ada, ben] {
                    await client.subscribe(queries)
                    Task { try await client.synchronize(url) }
                    await client.wait { await $0.state.shown.number == 1 }
                }
                await ada.write([.create(rex, values)])
                await ben.wait { await $0.rows[rex]?[name] == .text("Rex") }
                await ada.wait { await $0.state.outbox.isEmpty }
                let connection = try await PostgresConnection(address)
                try await connection.run { _ = try $0.execute("UPDATE dog SET name = 'Max' WHERE id = 1") }
                for client in [ada, ben] { await client.wait { await $0.rows[rex]?[name] == .text("Max") } }
                await ben.write([.delete(rex)])
                await ada.wait { await $0.rows[rex] == nil }
                await ben.wait { await $0.state.outbox.isEmpty }
            }
            #expect(try sample.count("dog") == 0)
            #expect(try sample.count("martlet.log WHERE op = 'i'") == 1)
        }

        @Test("a client continues after the service has stopped, and what it wrote meanwhile is stored once")
        func reconnection() async throws {
            let sample = try SampleDatabase()
            let client = MemoryClient()
            let database = try await database(sample)
            let queries = dogs(sample)
            let values = try sample.values(["name": .text("Rex")])
            let (first, second, third) = (sample.dog(1), sample.dog(2), sample.dog(3))
            try await withService(database) { url in
                await client.subscribe(queries)
                Task { try await client.synchronize(url) }
                await client.wait { await $0.state.shown.number == 1 }
                await client.write([.create(first, values)])
                await client.wait { await $0.state.outbox.isEmpty }
            }
            await client.write([.create(second, values)])
            try sample.session.execute("INSERT INTO dog (id, name) VALUES (3, 'SQL')")
            try await withService(database) { url in
                Task { try await client.synchronize(url) }
                await client.wait { await $0.rows[third] != nil }
                await client.wait { await $0.state.outbox.isEmpty }
            }
            #expect(try sample.count("dog") == 3)
            #expect(try sample.count("martlet.log WHERE op = 'i'") == 3)
            #expect(await Set(client.rows.keys) == [first, second, third])
        }

        @Test("what PostgreSQL refuses is reverted on the client, with a reason and without values of others")
        func reverted() async throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, name, chip_number) VALUES (1, 'Rex', 'secret')")
            let client = MemoryClient()
            let (queries, refused) = (dogs(sample), sample.dog(2))
            let values = try sample.values(["name": .text("Max"), "chipNumber": .text("secret")])
            try await withService(database(sample)) { url in
                await client.subscribe(queries)
                Task { try await client.synchronize(url) }
                await client.wait { await $0.state.shown.number == 1 }
                await client.write([.create(refused, values)])
                await client.wait { await !$0.reverted.isEmpty }
                await client.wait { await $0.rows[refused] == nil }
            }
            let objects = await client.reverted
            #expect(objects.map(\.address) == [refused] && objects.map(\.reason) == [.constraint])
            #expect(objects.allSatisfy { !$0.message.contains("secret") })
            #expect(await client.state.outbox.isEmpty)
        }

        @Test("an unknown token, and the identity of another client, are refused")
        func refusals() async throws {
            let sample = try SampleDatabase()
            let database = try await database(sample)
            var context = SessionContext()
            guard case .failed(let failure) = await database.run(.authenticate(token: "eve"), context) else {
                Issue.record("the token is accepted")
                return
            }
            #expect(failure.action == .signIn)
            context.user = AuthenticatedUser(id: "ada")
            guard case .opened(let opened) = await database.run(.open(nil), context) else {
                Issue.record("no client")
                return
            }
            let forged = ClientIdentity(id: opened.identity.id, secret: [UInt8](repeating: 0, count: 32))
            guard case .failed(let other) = await database.run(.open(forged), context) else {
                Issue.record("the identity is accepted")
                return
            }
            #expect(other.action == .stop)
            guard case .opened = await database.run(.open(opened.identity), context) else {
                Issue.record("the client is not known")
                return
            }
        }

        @Test("a cursor of the future, or none, makes the client start again")
        func forgedCursor() async throws {
            let sample = try SampleDatabase()
            let database = try await database(sample)
            for cursor in ["99999999:99999999:", "1:1:", "x", ""] {
                guard case .failed(let failure) = await database.run(.read(after: SyncCursor(cursor)), SessionContext())
                else {
                    Issue.record("the cursor '\(cursor)' is accepted")
                    continue
                }
                #expect(failure.action == .startAgain)
            }
        }
    }
#endif
