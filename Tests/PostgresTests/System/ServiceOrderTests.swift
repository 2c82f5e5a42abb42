#if Postgres
    import Foundation
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    /// Tests the order in which an instance of the service uses the database after a failover, and while it waits for
    /// locks.
    @Suite("PostgreSQL: failover and locks", .needsPostgres, .serialized, .timeLimit(.minutes(5)))
    struct ServiceOrderTests {
        private func database(_ address: String, count: Int) async throws -> PostgresServiceDatabase {
            try await PostgresServiceDatabase(
                ConnectionPool(address, count: count), verify: { AuthenticatedUser(id: $0) },
                log: { print("service: \($0)") })
        }

        private func everything(_ sample: SampleDatabase) -> [SubscribedQuery] {
            [SubscribedQuery(type: sample.tag, condition: SubscriptionCondition.constant(true).encoded())]
        }

        @Test("after a failover, no task of an open session uses the database before its new epoch is known")
        func failover() async throws {
            let cluster = try PostgresCluster()
            let sample = try SampleDatabase(cluster)
            let client = try UploadingClient(sample)
            let database = try await database(sample.address, count: 2)
            var context = sample.context
            context.client = client.identity
            let queries = everything(sample)
            guard case .read(let batch) = await database.run(.read(after: nil, for: queries, isCurrent: true), context)
            else {
                Issue.record("the first read has failed")
                return
            }
            cluster.promote()
            try PostgresSession(sample.address).execute("INSERT INTO tag VALUES ('after')")
            let upload = client.upload([.create(ObjectAddress(type: sample.tag, key: .text("own")), [:])])
            for _ in 0..<6 {
                for task in [
                    ServiceTask.read(after: batch.cursor, for: queries, isCurrent: true), .store([upload]),
                    .change(after: batch.cursor, from: queries, to: []),
                ] {
                    guard case .failed(let failure) = await database.run(task, context) else {
                        Issue.record("the task is executed in the former epoch: \(task)")
                        continue
                    }
                    #expect(failure.action == .retry)
                }
            }
            #expect(try PostgresSession(sample.address).query("SELECT FROM tag").rowCount == 1)
            guard case .opened(let opened) = await database.run(.open(client.identity, hasPosition: true), context)
            else {
                Issue.record("the client cannot connect again")
                return
            }
            #expect(opened.epoch != context.epoch && opened.epoch.hasSuffix(".00000002"))
        }

        @Test("an upload that waits too long for a lock fails without being stored, and can be sent again Y12")
        func lockTimeout() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, name) VALUES (1, 'a')")
            let client = try UploadingClient(sample)
            let other = try PostgresSession(sample.address)
            try other.execute("BEGIN; UPDATE dog SET age = 5")
            let upload = client.upload([.update(sample.dog(1), try sample.values(["name": .text("b")]))])
            let writer = UploadWriter(sample.catalog, lockMilliseconds: 50)
            let error = #expect(throws: PostgresError.self) {
                try writer.store(upload, of: client.identity.id, in: sample.session)
            }
            #expect(error?.state == SQLState("55P03"))
            #expect(try sample.client(client.identity) == .known(storedUpload: 0))
            try other.execute("COMMIT")
            #expect(try client.store(upload) == .stored([]))
            #expect(try sample.count("dog WHERE name = 'b' AND age = 5") == 1)
        }

        @Test("while uploads wait for locks on all connections, attached sessions get new entries")
        func ownConnection() async throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id) VALUES (1)")
            let client = try UploadingClient(sample)
            let database = try await database(sample.address, count: 1)
            let context = sample.context
            let queries = everything(sample)
            guard case .read(let batch) = await database.run(.read(after: nil, for: queries, isCurrent: true), context)
            else {
                Issue.record("the first read has failed")
                return
            }
            let other = try PostgresSession(sample.address)
            try other.execute("BEGIN; SELECT FROM dog FOR UPDATE")
            var writing = sample.context
            writing.client = client.identity
            let upload = client.upload([.update(sample.dog(1), try sample.values(["name": .text("b")]))])
            async let stored = database.run(.store([upload]), writing)
            // The upload waits for the lock.
            while try sample.session.query("SELECT FROM pg_locks WHERE NOT granted").rowCount == 0 {
                await Task.yield()
            }
            try sample.session.execute("INSERT INTO tag VALUES ('new')")
            let result = await database.run(.read(after: batch.cursor, for: queries, isCurrent: true), context)
            #expect(try sample.session.query("SELECT FROM pg_locks WHERE NOT granted").rowCount > 0)
            guard case .read(let next) = result else {
                Issue.record("the read has failed")
                return
            }
            #expect(next.entries.map(\.address.key) == [.text("new")])
            try other.execute("COMMIT")
            guard case .stored = await stored else {
                Issue.record("the upload is not stored")
                return
            }
        }

        @Test("a client never receives objects of a type that is only uploaded, even if they have lists")
        func uploadOnlyLists() async throws {
            let sample = try CollectionSample(
                """
                objects:
                  Person: {primaryKey: id, sync: both, properties: {id: Int, name: String}}
                  Dog:
                    primaryKey: id
                    sync: upload
                    properties: {id: Int, name: String, names: List<String>, owners: List<Person>}
                """)
            let client = try CollectionClient(sample)
            let start = client.base
            let database = try await database(sample.address, count: 2)
            let names = try sample.path("names")
            let positions = client.positions(count: 2)
            let outcome = try client.store([
                .create(sample.dog(1), [:]), .insertElement(sample.dog(1), names, positions[0], .text("a")),
                .insertElement(sample.dog(1), names, positions[1], .text("b")), .create(sample.person(1), [:]),
                .insertElement(sample.dog(1), try sample.path("owners"), positions[0], .link(sample.person(1))),
            ])
            #expect(outcome == .stored([]))
            try sample.session.execute("INSERT INTO dog_names (owner, value) VALUES (1, 'c')")
            #expect(try sample.session.query("SELECT FROM dog_names").rowCount == 3)
            // The service refuses queries for a type that is only uploaded.
            let queries = [
                SubscribedQuery(type: sample.person, condition: SubscriptionCondition.constant(true).encoded())
            ]
            for id in [client.id, client.id + 1] {
                var context = SessionContext()
                context.schemaHash = sample.catalog.schemaHash
                (context.epoch, context.deployment) = (sample.catalog.epoch, sample.catalog.factsID)
                context.client = ClientIdentity(id: id, secret: [])
                guard
                    case .read(let batch) = await database.run(
                        .read(after: start, for: queries, isCurrent: true), context)
                else {
                    Issue.record("the read has failed")
                    continue
                }
                let changes = ClientChanges(batch.entries, for: id, { _, _ in true }, contents: batch.contents)
                #expect(changes.rows.map(\.address) == [sample.person(1)])
                // The client removes the objects that it has uploaded.
                #expect(changes.leaving == (id == client.id ? [sample.dog(1)] : []))
            }
        }
    }
#endif
