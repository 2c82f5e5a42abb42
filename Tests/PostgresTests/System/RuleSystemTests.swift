#if Postgres
    import Foundation
    import MartletPostgres
    import MartletSync
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    /// Tests the whole service with a schema that has rules. The token of a client is the JSON text of the claims of
    /// its user.
    @Suite("PostgreSQL: users and rules", .needsPostgres, .timeLimit(.minutes(5)))
    struct RuleSystemTests {
        private let address: String
        private let session: PostgresSession
        private let schema: MartletSyncService.SyncSchema
        private let serviceAddress: String

        init() throws {
            let sample = try SampleSchema(
                """
                objects:
                  Memo:
                    sync: both
                    primaryKey: id
                    read: isPublic OR author == $user.sub
                    write: author == $user.sub
                    properties: {id: Int, author: String, isPublic: Bool, text: String}
                """)
            address = try newDatabase()
            session = try PostgresSession(address)
            try session.execute(sample.statements)
            schema = try MartletSyncService.SyncSchema(facts: sample.facts)
            try Deployment(schema).run(in: session)
            serviceAddress = try ServiceRole(session).address(address)
        }

        private func memo(_ id: Int64) -> ObjectAddress { ObjectAddress(type: 0, key: .integer(id)) }

        private func values(_ author: String, _ isPublic: Bool, _ text: String) -> [ValuePath: SyncValue] {
            [.init(1): .text(author), .init(2): .integer(isPublic ? 1 : 0), .init(3): .text(text)]
        }

        private func client(_ user: String) -> MemoryClient {
            MemoryClient(SchemaHash.of(schema.agreed), token: #"{"sub":"\#(user)"}"#)
        }

        private let everything = [
            SubscribedQuery(type: 0, condition: SubscriptionCondition.constant(true).encoded())
        ]

        private func database() async throws -> PostgresServiceDatabase {
            try await PostgresServiceDatabase(
                ConnectionPool(serviceAddress, count: 3), verify: { AuthenticatedUser(id: "user", claims: $0) },
                log: { print("service: \($0)") })
        }

        @Test("each user gets exactly the objects that the rule permits, and can write only objects of this user")
        func users() async throws {
            try session.execute(
                "INSERT INTO memo VALUES (1, 'ada', false, 'a'), (2, 'ben', false, 'b'), (3, 'ben', true, 'c')")
            let (ada, ben, eve) = (client("ada"), client("ben"), client("eve"))
            let expected = [[memo(1), memo(3)], [memo(2), memo(3)], [memo(3)]]
            let (everything, address) = (everything, address)
            let (first, second, third, fourth) = (memo(1), memo(2), memo(3), memo(4))
            let (own, foreign) = (values("eve", false, "e"), values("ben", true, "forged"))
            let text = ValuePath(3)
            try await withService(database()) { url in
                for (client, memos) in zip([ada, ben, eve], expected) {
                    await client.subscribe(everything)
                    Task { try await client.synchronize(url) }
                    await client.wait { await $0.state.shown.number == 1 }
                    #expect(await Set(client.rows.keys) == Set(memos))
                }
                let connection = try await PostgresConnection(address)
                try await connection.run { session in
                    _ = try session.execute(
                        "UPDATE memo SET is_public = NOT is_public; UPDATE memo SET author = 'eve' WHERE id = 2")
                }
                await ada.wait { await Set($0.rows.keys) == [first, second] }
                await ben.wait { await Set($0.rows.keys) == [first, second, third] }
                await eve.wait { await Set($0.rows.keys) == [first, second] }
                // Eve may write her own memos. She may neither change memos of others nor create memos in their names.
                await eve.write([.create(fourth, own)])
                await eve.wait { await $0.state.outbox.isEmpty }
                await eve.write([.update(first, [text: .text("forged")])])
                await eve.write([.create(ObjectAddress(type: 0, key: .integer(5)), foreign)])
                await eve.wait { await $0.reverted.count == 2 }
                await eve.wait { await $0.state.outbox.isEmpty }
                #expect(await eve.reverted.allSatisfy { $0.reason == .notPermitted })
                await eve.wait { await $0.rows[first]?[text] == .text("a") }
                await eve.wait { await $0.rows.count == 3 }
                // Eve can no longer read memo 3. Her deletion has no effect, as if the memo did not exist.
                await eve.write([.delete(third)])
                await eve.wait { await $0.state.outbox.isEmpty }
            }
            let rows = try session.query("SELECT id, text FROM memo ORDER BY id").rows
            #expect(try rows.map { "\(try $0.bigint(0))\(try $0.text(1))" } == ["1a", "2b", "3c", "4e"])
            #expect(await ada.rows[memo(4)] == nil)
        }

        @Test("a client must start again if its user may now read other objects than before")
        func otherRights() async throws {
            let database = try await database()
            func open(_ user: String, _ identity: ClientIdentity?, hasPosition: Bool) async -> ServiceTaskResult {
                var context = SessionContext()
                context.schemaHash = SchemaHash.of(schema.agreed)
                context.user = AuthenticatedUser(
                    id: user, claims: #"{"sub":"\#(user)","iat":\#(Int.random(in: 1...99))}"#)
                return await database.run(.open(identity, hasPosition: hasPosition), context)
            }
            guard case .opened(let client) = await open("ada", nil, hasPosition: false) else {
                Issue.record("a new client is refused")
                return
            }
            guard case .opened = await open("ada", client.identity, hasPosition: true) else {
                Issue.record("another token with the same rights is refused")
                return
            }
            guard case .failed(let failure) = await open("ben", client.identity, hasPosition: true) else {
                Issue.record("other rights are accepted")
                return
            }
            #expect(failure.action == .startAgain)
            // The client can start again with the rights of ben. After that, it must start again for the rights of ada.
            guard case .opened = await open("ben", client.identity, hasPosition: false),
                case .opened = await open("ben", client.identity, hasPosition: true),
                case .failed = await open("ada", client.identity, hasPosition: true)
            else {
                Issue.record("the client cannot start again")
                return
            }
        }

        @Test("after another rule is deployed, sessions end and their clients start again")
        func otherRule() async throws {
            let database = try await database()
            var context = SessionContext()
            context.schemaHash = SchemaHash.of(schema.agreed)
            context.user = AuthenticatedUser(id: "ada", claims: #"{"sub":"ada"}"#)
            guard case .opened(let client) = await database.run(.open(nil, hasPosition: false), context) else {
                Issue.record("a new client is refused")
                return
            }
            (context.client, context.epoch, context.deployment) = (client.identity, client.epoch, client.deployment)
            guard case .read = await database.run(.read(after: nil, for: everything, isCurrent: true), context) else {
                Issue.record("the first read is refused")
                return
            }
            let facts = schema.facts.replacing("isPublic == true OR ", with: "")
            #expect(facts != schema.facts)
            try Deployment(MartletSyncService.SyncSchema(facts: facts)).run(in: session)
            for _ in 0..<2 {
                guard
                    case .failed(let failure) = await database.run(
                        .read(after: nil, for: everything, isCurrent: true), context)
                else {
                    Issue.record("the session continues")
                    return
                }
                #expect(failure.action == .retry)
            }
            guard case .failed(let failure) = await database.run(.open(client.identity, hasPosition: true), context)
            else {
                Issue.record("the client continues")
                return
            }
            #expect(failure.action == .startAgain)
        }

        @Test("a role that bypasses row level security is refused if the schema has rules")
        func superuser() async throws {
            let error = await #expect(throws: DeploymentError.self) {
                try await PostgresServiceDatabase(
                    ConnectionPool(address, count: 1), verify: { AuthenticatedUser(id: $0) }, log: { _ in })
            }
            #expect(error?.description.contains("bypasses row level security") == true)
        }
    }
#endif
