#if Postgres
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import ModelTesting
    import Testing

    @Suite("PostgreSQL: several uploads in one transaction", .needsPostgres)
    struct SeveralUploadsTests {
        private func transactions(_ sample: SampleDatabase) throws -> Int {
            try sample.count("(SELECT DISTINCT xid FROM martlet.log) t")
        }

        @Test("uploads that cause no errors are stored in one transaction, each with its number and time stamp Y12")
        func together() throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            let uploads = [
                client.upload([.create(sample.dog(1), [:])], milliseconds: 1_700_000_000_000),
                client.upload([], milliseconds: 1_700_000_000_001),
                client.upload(
                    [.update(sample.dog(1), try sample.values(["age": .integer(7)]))], milliseconds: 1_700_000_000_002),
            ]
            #expect(try client.storeAll(uploads) == [.stored([]), .stored([]), .stored([])])
            #expect(try transactions(sample) == 1)
            let log = try sample.session.query("SELECT upload, time FROM martlet.log ORDER BY seq").rows
            #expect(try log.map { try $0.bigint(0) } == [1, 2, 3])
            #expect(
                try log.map { HybridTimestamp(rawValue: UInt64(try $0.bigint(1))) } == uploads.map(\.time))
            let newest = try #require(uploads.last).time.rawValue
            #expect(try sample.client(client.identity) == .known(storedUpload: 3, storedTime: newest))
            #expect(try sample.count("dog WHERE age = 7") == 1)
        }

        @Test("if one of several uploads violates a constraint, only the objects that violate it are reverted Y13")
        func misfit() throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            let chip = try sample.values(["chipNumber": .text("a")])
            let outcomes = try client.storeAll([
                client.upload([.create(sample.dog(1), chip)]),
                client.upload([.create(sample.dog(2), chip), .create(sample.dog(3), [:])]),
                client.upload([.create(sample.dog(4), try sample.values(["owner": .link(sample.person(9))]))]),
                client.upload([.create(sample.dog(5), [:])]),
            ])
            #expect(outcomes.count == 4 && outcomes[0] == .stored([]) && outcomes[3] == .stored([]))
            #expect(UploadingClient.reasons(outcomes[1]) == [sample.dog(2): .constraint])
            #expect(UploadingClient.reasons(outcomes[2]) == [sample.dog(4): .constraint])
            #expect(try sample.count("dog WHERE id IN (1, 3, 5)") == 3)
            #expect(try sample.count("dog") == 3)
            #expect(try transactions(sample) == 4)
        }

        @Test("if some of several uploads are already stored, they are not stored again")
        func duplicates() throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            let uploads = (1...4).map { client.upload([.create(sample.dog($0), [:])]) }
            #expect(try client.storeAll(Array(uploads[..<2])).count == 2)
            #expect(try client.storeAll(uploads) == [.duplicate, .duplicate, .stored([]), .stored([])])
            #expect(try client.storeAll([uploads[3], uploads[3]]) == [.duplicate, .duplicate])
            #expect(try sample.count("dog") == 4)
            _ = client.upload([])
            let (sixth, seventh) = (client.upload([]), client.upload([]))
            #expect(try client.storeAll([sixth, seventh]) == [.gap(stored: 4)])
            #expect(throws: InvalidUpload.self) {
                var invalid = sixth
                invalid.number = 0
                try client.storeAll([invalid, sixth])
            }
            #expect(try sample.client(client.identity) == .known(storedUpload: 4, storedTime: uploads[3].time.rawValue))
        }

        @Test("a lock of another transaction on one object delays several uploads, and none is lost")
        func locked() async throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id) VALUES (1), (2)")
            let client = try UploadingClient(sample)
            let name = try sample.values(["name": .text("Rex")])
            let uploads = [1, 2].map { client.upload([.update(sample.dog($0), name)]) }
            let other = try PostgresSession(sample.address)
            try other.execute("BEGIN; SELECT FROM dog WHERE id = 2 FOR UPDATE")
            let connection = try await PostgresConnection(sample.address)
            let (writer, id) = (UploadWriter(sample.catalog, lockMilliseconds: 100_000), client.identity.id)
            async let outcomes = connection.run { try writer.store(uploads, of: id, in: $0) }
            // The first upload is stored while the second one waits.
            while try sample.count("dog WHERE name = 'Rex'") == 0 { await Task.yield() }
            try other.execute("COMMIT")
            #expect(try await outcomes == [.stored([]), .stored([])])
            #expect(try sample.count("dog WHERE name = 'Rex'") == 2)
        }

        // MARK: Random uploads

        private struct World {
            let sample: SampleDatabase
            var clients: [UploadingClient]

            init() throws {
                sample = try SampleDatabase()
                clients = []
                for _ in 0..<2 { clients.append(try UploadingClient(sample)) }
            }

            func rows(_ sql: String) throws -> [String] {
                try sample.session.query("SELECT t::text FROM (\(sql)) t").rows.map { try $0.text(0) }
            }
        }

        private static func operations(
            _ sample: SampleDatabase, _ random: inout SeededRandom
        ) throws -> [SyncOperation] {
            try (0..<Int.random(in: 0...4, using: &random)).map { _ in
                let dog = sample.dog(.random(in: 1...4, using: &random))
                let person = sample.person(.random(in: 1...3, using: &random))
                let values: [String: SyncValue] = [
                    "name": .text(["Rex", "Bo\u{0}", "", "é"].randomElement(using: &random) ?? ""),
                    "age": .integer([-128, 127, 0, 128].randomElement(using: &random) ?? 0),
                    "weight": .real([.nan, -0.0, 1e308, -.infinity].randomElement(using: &random) ?? 0),
                    "chipNumber": .text(["a", "b", "c"].randomElement(using: &random) ?? ""),
                    "owner": .link(person), "keeper": .link(person), "vet": .link(person),
                ].filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
                return switch Int.random(in: 0..<8, using: &random) {
                case 0, 1: .create(dog, try sample.values(values))
                case 2, 3: .update(dog, try sample.values(values))
                case 4: .delete(dog)
                case 5: .add(dog, try sample.path(sample.dog, "walks"), .random(in: -3...3, using: &random))
                case 6: .create(person, [:])
                default: .delete(person)
                }
            }
        }

        @Test(
            "random uploads have the same outcomes in one transaction as in separate transactions Y12 Y13",
            arguments: 1...4 as ClosedRange<UInt64>)
        func random(_ seed: UInt64) throws {
            var random = SeededRandom(seed: seed)
            let (together, alone) = (try World(), try World())
            var (fitting, reverted) = (0, 0)
            for _ in 0..<25 {
                let index = Int.random(in: 0..<2, using: &random)
                let hasBase = Bool.random(using: &random)
                for world in [together, alone] {
                    world.clients[index].base = hasBase ? try world.sample.now() : SyncCursor("")
                }
                let time = UInt64.random(in: 1...50, using: &random)
                let list = try (0..<Int.random(in: 1...5, using: &random)).map { _ in
                    try Self.operations(together.sample, &random)
                }
                let (one, other) = (together.clients[index], alone.clients[index])
                let outcomes = try one.storeAll(list.map { one.upload($0, milliseconds: time) })
                let expected = try list.map { operations in
                    // The numbers of these two uploads are not consecutive, so they are stored one by one.
                    let upload = other.upload(operations, milliseconds: time)
                    let outcomes = try other.storeAll([upload, upload])
                    #expect(outcomes.count == 2 && outcomes[1] == .duplicate)
                    return outcomes[0]
                }
                #expect(outcomes.map(UploadingClient.reasons) == expected.map(UploadingClient.reasons))
                for outcome in outcomes { if outcome == .stored([]) { fitting += 1 } else { reverted += 1 } }
                for sql in [
                    "SELECT * FROM dog ORDER BY id", "SELECT * FROM person ORDER BY id",
                    // The images of rows contain type identifiers. These differ between the databases, so the query
                    // compares only the lengths of the images.
                    """
                    SELECT type, op, key, columns, length(old), length(new), paths, time, client, upload
                    FROM martlet.log ORDER BY seq
                    """,
                    "SELECT upload, upload_time FROM martlet.clients ORDER BY id",
                ] {
                    let (one, other) = (try together.rows(sql), try alone.rows(sql))
                    let difference = one.difference(from: other)
                    try #require(difference.isEmpty, "\(sql): \(difference)")
                }
            }
            #expect(fitting > 10 && reverted > 0)
        }
    }
#endif
