#if Postgres
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    @Suite("PostgreSQL: counters, local properties, and types that are only uploaded", .needsPostgres)
    struct CounterTests {
        private func walks(_ sample: SampleDatabase) throws -> Int64? {
            try sample.session.query("SELECT walks FROM dog WHERE id = 1").first?.bigint(0)
        }

        @Test("the additions of all clients are applied, regardless of their time stamps")
        func addition() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, walks) VALUES (1, 5)")
            let (first, second) = (try UploadingClient(sample), try UploadingClient(sample))
            let path = try sample.path(sample.dog, "walks")
            try first.store([.add(sample.dog(1), path, 2)], milliseconds: 2)
            try second.store([.add(sample.dog(1), path, -3), .add(sample.dog(1), path, 1)], milliseconds: 1)
            #expect(try walks(sample) == 5)
            try second.store([.delete(sample.dog(1))])
            #expect(try first.store([.add(sample.dog(1), path, 2)]) == .stored([]), "a deletion wins")
            #expect(try walks(sample) == nil)
        }

        @Test("the log entry of an addition contains the sum; an addition to a missing object is logged as a touch")
        func changes() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id) VALUES (1)")
            let client = try UploadingClient(sample)
            let path = try sample.path(sample.dog, "walks")
            try client.store([.add(sample.dog(1), path, 2)])
            try client.store([.add(sample.dog(1), path, 1), .add(sample.dog(1), path, -1)])
            let entries = try sample.changes(after: client.base).entries
            #expect(entries.map { $0.new?[path] } == [.integer(2), .integer(3), .integer(2)])
            #expect(entries.allSatisfy { $0.origin?.client == client.identity.id && !$0.isTouch })
            try sample.session.execute("DELETE FROM dog")
            let cursor = try sample.now()
            try client.store([.add(sample.dog(1), path, 1)])
            #expect(try sample.changes(after: cursor).entries.map(\.isTouch) == [true])
        }

        @Test("an addition is refused if the sum does not fit into 64 bits; other objects of the upload are stored")
        func overflow() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, walks) VALUES (1, 9223372036854775807), (2, 0)")
            let client = try UploadingClient(sample)
            let path = try sample.path(sample.dog, "walks")
            let outcome = try client.store([.add(sample.dog(1), path, 1), .add(sample.dog(2), path, .min)])
            #expect(UploadingClient.reasons(outcome) == [sample.dog(1): .invalidValue])
            #expect(try walks(sample) == .max)
            #expect(try sample.count("dog WHERE walks < 0") == 1)
        }

        @Test("an upload cannot add to a property that is not a counter, or write a local property")
        func hostile() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id) VALUES (1)")
            let client = try UploadingClient(sample)
            #expect(throws: InvalidUpload.self) {
                try client.store([.add(sample.dog(1), try sample.path(sample.dog, "age"), 1)])
            }
            let other = try UploadingClient(sample)
            let outcome = try other.store([.update(sample.dog(1), try sample.values(["draft": .text("x")]))])
            #expect(UploadingClient.reasons(outcome) == [sample.dog(1): .invalidValue])
            let entries = try sample.changes(after: other.base).entries
            let draft = try sample.path(sample.dog, "draft")
            #expect(entries.count == 1 && entries[0].new?[draft] == nil)
        }

        @Test("an object of a type with 'sync: upload' is stored; neither the log nor a snapshot contains its values")
        func uploadOnly() throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            let crash = ObjectAddress(type: sample.crash, key: .integer(1))
            let text = [try sample.path(sample.crash, "text"): SyncValue.text("secret")]
            #expect(try client.store([.create(crash, text)]) == .stored([]))
            #expect(try sample.count("crash WHERE text = 'secret'") == 1)
            let entries = try sample.changes(after: client.base).entries
            #expect(entries.map(\.address) == [crash] && entries[0].new == nil)
            let mine = ClientChanges(entries, for: client.identity.id) { _, _ in true }
            #expect(mine.leaving == [crash] && mine.rows.isEmpty, "the client removes the object")
            let others = ClientChanges(entries, for: client.identity.id + 1) { _, _ in true }
            #expect(others.leaving.isEmpty && others.rows.isEmpty)
            try DatabaseSnapshot.read(sample.catalog, in: sample.session) { snapshot in
                try snapshot.rows(of: sample.crash) { _ in Issue.record("a row was read") }
            }
        }
    }
#endif
