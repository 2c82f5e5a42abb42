#if Postgres
    import MartletEngine
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    @Suite("PostgreSQL: delivery of collections to sessions", .needsPostgres)
    struct CollectionDeliveryTests {
        /// A session with a query for the dogs named "Rex".
        private struct Session {
            let sample: CollectionSample
            let database: PostgresServiceDatabase
            let query: SubscribedQuery
            var context = SessionContext()

            init(_ sample: CollectionSample, address: String? = nil, claims: String = "{}") async throws {
                self.sample = sample
                database = try await PostgresServiceDatabase(
                    ConnectionPool(address ?? sample.address, count: 2), verify: { AuthenticatedUser(id: $0) },
                    log: { print("service: \($0)") })
                let operand = ConditionOperand(try sample.path("name"), .text)
                let condition = SubscriptionCondition.test(.isIn(operand, [.text("Rex")]), isNegated: false)
                query = SubscribedQuery(type: sample.dog, condition: condition.encoded())
                context.schemaHash = sample.catalog.schemaHash
                context.epoch = sample.catalog.epoch
                context.deployment = sample.catalog.factsID
                context.user = AuthenticatedUser(id: "ada", claims: claims)
            }

            func read(after cursor: SyncCursor) async throws -> ClientBatch {
                let task = ServiceTask.read(after: cursor, for: [query], isCurrent: true)
                guard case .read(let batch) = await database.run(task, context) else { throw CancellationError() }
                return batch
            }

            func rows() async throws -> [SyncRow] {
                let task = ServiceTask.change(after: try sample.now(), from: [], to: [query])
                guard case .changed(_, let data) = await database.run(task, context) else { throw CancellationError() }
                return try await data.content().rows
            }

            /// The elements of a list of a dog in a batch; nil if the batch does not contain the list.
            func texts(_ batch: ClientBatch, _ id: Int64, _ name: String) throws -> [SyncValue]? {
                batch.contents[sample.dog(id)]?[try sample.path(name)]?.elements?.map(\.value)
            }
        }

        @Test("a session gets changed collections as a whole, and all collections of an object that is new to it Y21")
        func delivery() async throws {
            let sample = try CollectionSample()
            let session = try await Session(sample)
            try sample.session.execute(
                """
                INSERT INTO dog (id, name) VALUES (1, 'Rex'), (2, 'Max'), (3, 'Max');
                INSERT INTO dog_names (owner, value) VALUES (1, 'a'), (2, 'x'), (3, 'y')
                """)
            #expect(try await session.rows().map { $0.values.count } == [8])
            let start = try sample.now()
            try sample.session.execute(
                """
                INSERT INTO dog_names (owner, value) VALUES (1, 'b'), (3, 'z');
                UPDATE dog SET name = 'Rex' WHERE id = 2;
                INSERT INTO dog (id, name) VALUES (4, 'Rex')
                """)
            let batch = try await session.read(after: start)
            #expect(try session.texts(batch, 1, "names") == [.text("a"), .text("b")])
            #expect(batch.contents[sample.dog(1)]?.count == 1, "only the changed collection")
            #expect(try session.texts(batch, 2, "names") == [.text("x")])
            #expect(batch.contents[sample.dog(2)]?.count == 6, "all collections")
            #expect(batch.contents[sample.dog(3)] == nil && batch.contents[sample.dog(4)] == nil)
            #expect(Set(batch.entries.map(\.address)) == [sample.dog(1), sample.dog(2), sample.dog(4)])
            // The next read begins at the cursor of this batch.
            try sample.session.execute("DELETE FROM dog_names WHERE owner = 1 AND value = 'a'")
            let next = try await session.read(after: batch.cursor)
            #expect(next.entries.map(\.address) == [sample.dog(1)])
            #expect(try session.texts(next, 1, "names") == [.text("b")])
            #expect(try await session.read(after: next.cursor).entries.isEmpty)
        }

        @Test("if the writer of an element could not read its owner, the session of each client reads the owner Y21")
        func hiddenOwner() async throws {
            let sample = try CollectionSample()
            let session = try await Session(sample)
            try sample.session.execute(
                """
                INSERT INTO dog (id, name) VALUES (1, 'Rex'), (2, 'Max');
                INSERT INTO dog_names (owner, value) VALUES (1, 'a'), (2, 'b')
                """)
            let start = try sample.now()
            _ = try await session.read(after: start)
            // If row level security hides the owner from the writer, the trigger logs an entry without `old` and `new`.
            // These entries have the same form. Dog 3 does not exist.
            try sample.session.execute(
                """
                INSERT INTO martlet.log (type, op, facts, key, columns, time, property, element)
                SELECT t.id, 'e', (SELECT facts FROM martlet.deployment), int8send(d), B'', 1, 'names', ''
                FROM martlet.types t, unnest(ARRAY[1, 2, 3]::bigint[]) d WHERE t.name = 'Dog'
                """)
            let batch = try await session.read(after: start)
            let changes = ClientChanges(
                batch.entries, for: 0, { address, values in values[ValuePath(1)] == .text("Rex") },
                contents: batch.contents)
            #expect(changes.rows.map(\.address) == [sample.dog(1)] && changes.leaving.isEmpty)
            #expect(changes.rows.first?.values.keys.map { $0 } == [try sample.path("names")])
        }

        @Test("a touch does not restore an object that was deleted before the touch was committed")
        func lateTouch() async throws {
            let sample = try CollectionSample()
            var session = try await Session(sample)
            let client = try CollectionClient(sample)
            session.context.client = ClientIdentity(id: client.id, secret: [])
            try sample.session.execute("INSERT INTO dog (id, name) VALUES (1, 'Rex')")
            let start = try sample.now()
            let upload = try PostgresSession(sample.address)
            // The transaction writes the same entry as `UploadTouches`, and stays open during the deletion.
            try upload.execute(
                """
                BEGIN;
                INSERT INTO martlet.log (type, op, facts, key, old, new, time, client, upload)
                    SELECT type, 't', facts, key, new, new, time, \(client.id), 1 FROM martlet.log WHERE op = 'i'
                """)
            try sample.session.execute("DELETE FROM dog")
            let first = try await session.read(after: start)
            #expect(ClientChanges(first.entries, for: client.id) { _, _ in true }.leaving == [sample.dog(1)])
            try upload.execute("COMMIT")
            let second = try await session.read(after: first.cursor)
            let changes = ClientChanges(second.entries, for: client.id) { _, _ in true }
            #expect(changes.rows.isEmpty && changes.leaving == [sample.dog(1)])
            #expect(second.storedUpload == 1)
        }

        @Test("users can upload objects that they cannot read, but cannot change existing objects")
        func uploadOnly() throws {
            let sample = try CollectionSample(
                """
                objects:
                  Person:
                    primaryKey: id
                    sync: both
                    read: name == $user.sub
                    insert: id > 0
                    properties: {id: Int, name: String}
                  Dog:
                    primaryKey: id
                    sync: upload
                    insert: author == $user.sub
                    properties: {id: Int, name: String, author: String}
                """)
            let session = try PostgresSession(ServiceRole(sample.session).address(sample.address))
            let client = try CollectionClient(sample)
            let (name, author) = (try sample.path("name"), try sample.path("author"))
            var number: UInt64 = 0
            func store(_ operation: SyncOperation) throws -> UploadOutcome {
                number += 1
                let upload = ClientMessage.Upload(
                    number: number, base: try sample.now(), time: HybridTimestamp(milliseconds: number),
                    operations: [operation])
                return try UploadWriter(sample.catalog)
                    .store(upload, of: client.id, claims: #"{"sub":"ada"}"#, in: session)
            }
            #expect(try store(.create(sample.dog(1), [name: .text("Rex"), author: .text("ada")])) == .stored([]))
            let foreign = try store(.create(sample.dog(2), [author: .text("ben")]))
            #expect(UploadingClient.reasons(foreign) == [sample.dog(2): .notPermitted])
            // The reason reveals that an object with this key exists, but nothing else about the object.
            let known = try store(.create(sample.dog(1), [name: .text("Max"), author: .text("ada")]))
            #expect(UploadingClient.reasons(known) == [sample.dog(1): .constraint])
            #expect(try store(.create(sample.person(1), [ValuePath(1): .text("ben")])) == .stored([]))
            #expect(try sample.count("dog WHERE name = 'Rex'") == 1 && sample.count("person") == 1)
        }

        @Test("an object is refused if a hidden object has the same unique value; the other objects are stored Y13")
        func hiddenUniqueValues() throws {
            let sample = try CollectionSample(
                """
                objects:
                  Person: {primaryKey: id, sync: both, properties: {id: Int, name: String}}
                  Dog:
                    primaryKey: id
                    sync: both
                    unique: [[name]]
                    read: author == $user.sub
                    properties: {id: Int, name: String, author: String}
                """)
            let session = try PostgresSession(ServiceRole(sample.session).address(sample.address))
            try sample.session.execute("INSERT INTO dog VALUES (1, 'Rex', 'ben')")
            let client = try CollectionClient(sample)
            let (name, author) = (try sample.path("name"), try sample.path("author"))
            let upload = ClientMessage.Upload(
                number: 1, base: try sample.now(), time: HybridTimestamp(milliseconds: 1),
                operations: zip([2, 3, 4], ["Max", "Rex", "Bo"]).map {
                    .create(sample.dog($0), [name: .text($1), author: .text("ada")])
                })
            let outcome = try UploadWriter(sample.catalog)
                .store(upload, of: client.id, claims: #"{"sub":"ada"}"#, in: session)
            #expect(UploadingClient.reasons(outcome) == [sample.dog(3): .constraint])
            #expect(try sample.count("dog") == 3)
        }

        @Test("TRUNCATE of a table is refused if its trigger would not see all rows")
        func truncateWithRules() throws {
            let sample = try CollectionSample()
            let admin = sample.session
            let database = try #require(try admin.query("SELECT current_database()::text").first?.text(0))
            let role = "owner_\(database)"
            try admin.execute(
                """
                CREATE ROLE \(role) LOGIN; GRANT CREATE ON DATABASE \(database) TO \(role);
                GRANT CREATE ON SCHEMA public TO \(role); DROP SCHEMA martlet CASCADE
                """)
            let owner = try PostgresSession(sample.address.replacing("user=martlet", with: "user=\(role)"))
            let rules = try SampleSchema(
                """
                objects:
                  Note: {primaryKey: id, sync: both, read: name == $user.sub, properties: {id: Int, name: String}}
                  Plain: {primaryKey: id, sync: both, properties: {id: Int}}
                """)
            try owner.execute(rules.statements)
            try Deployment(SyncSchema(facts: rules.facts)).run(in: owner)
            try owner.execute("TRUNCATE plain")
            let error = #expect(throws: PostgresError.self) { try owner.execute("TRUNCATE note") }
            #expect(error?.state == .featureNotSupported)
        }

        @Test("PostgreSQL refuses positions that no client can decode")
        func wrongPositions() throws {
            let sample = try CollectionSample()
            try sample.session.execute("INSERT INTO dog (id, name) VALUES (1, 'Rex')")
            try sample.session.execute("INSERT INTO dog_names VALUES (1, '\\x0102', 'a')")
            for statement in [
                "INSERT INTO dog_names VALUES (1, '', 'b')", "INSERT INTO dog_names VALUES (1, '\\x0100', 'b')",
                "UPDATE dog_names SET position = '\\x00'",
                "INSERT INTO dog_names VALUES (1, convert_to(repeat('a', 5000), 'UTF8'), 'b')",
            ] {
                let error = #expect(throws: PostgresError.self) { try sample.session.execute(statement) }
                #expect(error?.state == .checkViolation, "\(statement)")
            }
        }

        @Test("a user gets only elements of readable objects, and can change only elements of writable objects")
        func rules() async throws {
            let sample = try CollectionSample(
                """
                objects:
                  Person: {primaryKey: id, sync: both, properties: {id: Int, name: String}}
                  Dog:
                    primaryKey: id
                    sync: both
                    read: author == $user.sub OR isPublic
                    write: author == $user.sub
                    properties: {id: Int, name: String, author: String, isPublic: Bool, names: List<String>, walks: {type: Int = 0, merge: add}}
                """)
            let role = try ServiceRole(sample.session)
            let address = role.address(sample.address)
            let ada = try await Session(sample, address: address, claims: #"{"sub":"ada"}"#)
            let ben = try await Session(sample, address: address, claims: #"{"sub":"ben"}"#)
            try sample.session.execute(
                """
                INSERT INTO dog (id, name, author, is_public) VALUES (1, 'Rex', 'ada', false), (2, 'Rex', 'ada', true);
                INSERT INTO dog_names (owner, value) VALUES (1, 'secret'), (2, 'open')
                """)
            #expect(try await Set(ada.rows().map(\.address)) == [sample.dog(1), sample.dog(2)])
            let shown = try await ben.rows()
            #expect(shown.map(\.address) == [sample.dog(2)])
            #expect(shown.first?.values[try sample.path("names")]?.elements?.map(\.value) == [.text("open")])
            let start = try sample.now()
            let client = try CollectionClient(sample)
            let uploads = try PostgresSession(address)
            let names = try sample.path("names")
            func store(
                _ claims: String, _ number: UInt64, _ operations: [SyncOperation]? = nil
            ) throws -> UploadOutcome {
                let insertions: [SyncOperation] = [1, 2].map {
                    .insertElement(sample.dog($0), names, client.positions()[0], .text("new"))
                }
                let upload = ClientMessage.Upload(
                    number: number, base: start, time: HybridTimestamp(milliseconds: 1_700_000_000_000),
                    operations: operations ?? insertions)
                return try UploadWriter(sample.catalog).store(upload, of: client.id, claims: claims, in: uploads)
            }
            let refused = try store(#"{"sub":"ben"}"#, 1)
            #expect(UploadingClient.reasons(refused)?[sample.dog(2)] == .notPermitted)
            #expect(try store(#"{"sub":"ada"}"#, 2) == .stored([]))
            let additions: [SyncOperation] = try [1, 2].map { .add(sample.dog($0), try sample.path("walks"), 1) }
            let counter = try store(#"{"sub":"ben"}"#, 3, additions)
            #expect(UploadingClient.reasons(counter) == [sample.dog(2): .notPermitted])
            #expect(try sample.count("dog WHERE walks = 0") == 2)
            let batch = try await ben.read(after: start)
            #expect(batch.contents.keys.map { $0 } == [sample.dog(2)])
            #expect(try await ada.read(after: start).contents.count == 2)
        }
    }
#endif
