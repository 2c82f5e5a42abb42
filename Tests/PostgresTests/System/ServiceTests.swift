#if Postgres
    import Foundation
    import MartletPostgres
    import MartletSync
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Synchronization
    import Testing

    /// Tests of the service with PostgreSQL, and with clients that have no files.
    @Suite("PostgreSQL: the whole service", .needsPostgres, .timeLimit(.minutes(5)))
    struct ServiceTests {
        private struct UnknownToken: Error {}

        private func database(_ sample: SampleDatabase) async throws -> PostgresServiceDatabase {
            try await PostgresServiceDatabase(
                ConnectionPool(sample.address, count: 3),
                verify: { token in
                    guard token == "ada" else { throw UnknownToken() }
                    return AuthenticatedUser(id: token)
                },
                log: { print("service: \($0)") })
        }

        private func dogs(_ sample: SampleDatabase) -> [SubscribedQuery] {
            [SubscribedQuery(type: sample.dog, condition: SubscriptionCondition.constant(true).encoded())]
        }

        @Test("writes of clients and of SQL reach the other clients, and PostgreSQL stores each of them once")
        func writes() async throws {
            let sample = try SampleDatabase()
            let name = try sample.path(sample.dog, "name")
            let (ada, ben) = (MemoryClient(sample.schemaHash), MemoryClient(sample.schemaHash))
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

        @Test("a client can write while the service is stopped, and the restarted service stores each write once")
        func reconnection() async throws {
            let sample = try SampleDatabase()
            let client = MemoryClient(sample.schemaHash)
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

        @Test("many clients get the objects of their queries, and one feed reads the log for all of them")
        func manyClients() async throws {
            let sample = try SampleDatabase()
            let database = try await database(sample)
            let clients = (0..<20).map { _ in MemoryClient(sample.schemaHash) }
            let address = sample.address
            let queries = try (0..<20).map { number in
                [try sample.query(sample.isIn(sample.dog, "age", .integer, [.integer(Int64(number % 10))]))]
            }
            let age = try sample.path(sample.dog, "age")
            let end = sample.dog(1_000)
            let endValues = try sample.values(["name": .text("end")])
            try await withService(database) { url in
                for (client, queries) in zip(clients, queries) {
                    await client.subscribe(queries)
                    Task { try await client.synchronize(url) }
                    await client.wait { await $0.state.shown.number == 1 }
                }
                let connection = try await PostgresConnection(address)
                try await connection.run { session in
                    for number in 0..<60 {
                        try session.execute("INSERT INTO dog (id, name, age) VALUES (\(number), 'a', \(number % 12))")
                        try session.execute("UPDATE dog SET age = (age + 1) % 12 WHERE id % 7 = \(number % 7)")
                        if number % 9 == 0 { try session.execute("DELETE FROM dog WHERE id = \(number / 2)") }
                    }
                }
                let expected = try await connection.run { session in
                    try session.query("SELECT id, age::bigint FROM dog").rows.map { try ($0.bigint(0), $0.bigint(1)) }
                }
                for (number, client) in clients.enumerated() {
                    let ids = Set(expected.filter { $0.1 == number % 10 }.map { SQLValue.integer($0.0) })
                    await client.wait { await Set($0.rows.keys.map(\.key)) == ids }
                    #expect(await client.rows.values.allSatisfy { $0[age] == .integer(Int64(number % 10)) })
                }
                // The queries of this client do not contain the object. The client still gets the result of its upload,
                // and removes the object.
                await clients[4].write([.create(end, endValues)])
                await clients[4].wait { await $0.state.outbox.isEmpty }
                await clients[4].wait { await $0.rows[end] == nil }
                #expect(await database.attachedCount == 20)
            }
            // Each session has read the log itself at most twice: when it began, and after its client had subscribed.
            #expect(database.metrics.count(.catchUps) <= 40)
            #expect(await database.attachedCount == 0)
        }

        @Test("a query that the service cannot evaluate is refused with a reason, and the previous queries stay active")
        func refusedQuery() async throws {
            let sample = try SampleDatabase()
            let client = MemoryClient(sample.schemaHash)
            let queries = dogs(sample)
            let wrong = [SubscribedQuery(type: sample.dog, condition: [1, 99])]
            let address = sample.address
            let rex = sample.dog(1)
            try await withService(database(sample)) { url in
                await client.subscribe(queries)
                Task { try await client.synchronize(url) }
                await client.wait { await $0.state.shown.number == 1 }
                await client.subscribe(wrong)
                await client.wait { await $0.refusals.count == 1 }
                let connection = try await PostgresConnection(address)
                try await connection.run { _ = try $0.execute("INSERT INTO dog (id, name) VALUES (1, 'Rex')") }
                await client.wait { await $0.rows[rex] != nil }
            }
            #expect(await client.refusals.allSatisfy { $0.contains("a query cannot be read") })
        }

        @Test("a refused object is reverted on the client, and the reason contains no values of other objects")
        func reverted() async throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, name, chip_number) VALUES (1, 'Rex', 'secret')")
            let client = MemoryClient(sample.schemaHash)
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

        @Test("an unknown token, and the identity of a client with a wrong secret, are refused")
        func refusals() async throws {
            let sample = try SampleDatabase()
            let database = try await database(sample)
            let context = sample.context
            guard case .failed(let failure) = await database.run(.authenticate(token: "eve"), context) else {
                Issue.record("the token is accepted")
                return
            }
            #expect(failure.action == .signIn)
            guard case .opened(let opened) = await database.run(.open(nil, hasPosition: false), context) else {
                Issue.record("a new client is refused")
                return
            }
            let forged = ClientIdentity(id: opened.identity.id, secret: [UInt8](repeating: 0, count: 32))
            guard case .failed(let other) = await database.run(.open(forged, hasPosition: false), context) else {
                Issue.record("the wrong secret is accepted")
                return
            }
            #expect(other.action == .registerAgain)
            guard case .opened = await database.run(.open(opened.identity, hasPosition: true), context) else {
                Issue.record("the right secret is refused")
                return
            }
        }

        @Test("a program with a newer or older schema than the deployed one is refused; the error says what to do")
        func otherSchemas() async throws {
            let sample = try SampleDatabase()
            let database = try await database(sample)
            func open(_ hash: [UInt8]) async -> ServiceTaskResult {
                var context = SessionContext()
                context.schemaHash = hash
                return await database.run(.open(nil, hasPosition: false), context)
            }
            let facts =
                try SampleSchema.dogs.get().facts + "\n\nobject Animal\nprimaryKey id\nsync both\nproperty id Int"
            let newer = try MartletSyncService.SyncSchema(facts: facts)
            let hash = SchemaHash.of(newer.agreed)
            guard case .failed(let unknown) = await open(hash) else {
                Issue.record("the schema is accepted")
                return
            }
            #expect(unknown.action == .stop && unknown.message.contains("martlet-sync deploy"))
            try sample.session.execute("CREATE TABLE public.animal (id bigint PRIMARY KEY)")
            try Deployment(newer).run(in: sample.session)
            // The running service reads the deployed schema again.
            guard case .opened = await open(hash) else {
                Issue.record("the deployed schema is refused")
                return
            }
            guard case .failed(let older) = await open(sample.schemaHash) else {
                Issue.record("the older schema is accepted")
                return
            }
            #expect(older.action == .stop && older.message.contains("update the program"))
        }

        @Test("a client with a cursor that the service has not created must start again")
        func forgedCursor() async throws {
            let sample = try SampleDatabase()
            let database = try await database(sample)
            for cursor in ["99999999:99999999:", "1:1:", "x", ""] {
                guard
                    case .failed(let failure) = await database.run(
                        .read(after: SyncCursor(cursor), for: [], isCurrent: false), sample.context)
                else {
                    Issue.record("the cursor '\(cursor)' is accepted")
                    continue
                }
                #expect(failure.action == .startAgain)
            }
        }
    }
#endif
