#if Postgres
    import MartletEngine
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Synchronization
    import Testing

    @Suite("PostgreSQL: embedded objects and AnyRealmValues", .needsPostgres)
    struct EmbeddedTests {
        /// Uploads changes of the dog with the key 1, and reads the dog.
        private struct Dog {
            let sample: SampleDatabase
            let home: ValuePath
            let extra: ValuePath

            init() throws {
                sample = try SampleDatabase()
                home = try sample.path(sample.dog, "home")
                extra = try sample.path(sample.dog, "anything")
            }

            func member(_ indices: Int...) -> ValuePath { ValuePath(home.properties + indices) }

            func place(_ city: String, _ zip: String? = nil, yard: SyncValue = .null) -> SyncValue {
                .embedded([.text(city), zip.map(SyncValue.text) ?? .null, yard])
            }

            func values() throws -> [ValuePath: SyncValue] {
                var found: [ValuePath: SyncValue] = [:]
                try DatabaseSnapshot.read(sample.catalog, in: sample.session) { snapshot in
                    try snapshot.rows(of: sample.dog) { if $0.address == sample.dog(1) { found = $0.values } }
                }
                return found
            }

            func update(_ path: ValuePath, _ value: SyncValue) -> [SyncOperation] {
                [.update(sample.dog(1), [path: value])]
            }
        }

        @Test("values are stored as JSON that SQL can read, and the log and a snapshot contain them exactly")
        func roundTrip() throws {
            let dog = try Dog()
            let client = try UploadingClient(dog.sample)
            let tagged: [SyncValue] = [
                .scalar(.integer(.max)), .scalar(.real(1e300)), .scalar(.real(0.1)),
                .scalar(.real(.leastNonzeroMagnitude)), .scalar(.real(.infinity)), .text("e\u{301}\u{1F600}\"\\\u{1}"),
                .scalar(AnyValueTag.double.tagged(AnyValueTag.bigEndian((-0.0).bitPattern))),
                .scalar(AnyValueTag.float.tagged(AnyValueTag.bigEndian(UInt64((0.1 as Float).bitPattern)))),
                .scalar(AnyValueTag.date.tagged(AnyValueTag.bigEndian((1.0 / 3).bitPattern))),
                .scalar(AnyValueTag.decimal128.tagged(try #require(DecimalNumber("-1e-6176")).bytes)),
                .scalar(AnyValueTag.uuid.tagged([UInt8](0..<16))), .link(dog.sample.person(7)), .null,
                .map([MapEntry(key: "$oid", value: .null)]),
                .map([MapEntry(key: "a", value: .list([])), MapEntry(key: "é", value: .scalar(.real(2)))]),
            ]
            let home = dog.place("Ü\u{7F}", "1", yard: .embedded([.integer(.min), .real(-0.0)]))
            try client.store([.create(dog.sample.dog(1), [dog.home: home, dog.extra: .list(tagged)])])
            #expect(try dog.values()[dog.home] == home)
            #expect(try dog.values()[dog.extra] == .list(tagged))
            let entry = try #require(dog.sample.changes(after: client.base).entries.first)
            #expect(entry.new?[dog.home] == home && entry.new?[dog.extra] == .list(tagged))
            #expect(
                try dog.sample.count("dog WHERE home ->> 'zip' = '1' AND anything -> 0 = to_jsonb(9223372036854775807)")
                    == 1)
            for value in tagged {
                try client.store(dog.update(dog.extra, value))
                #expect(try dog.values()[dog.extra] == value)
            }
        }

        @Test(
            "if two clients change different members of an embedded object, both changes are kept, in either order",
            arguments: [true, false])
        func members(isNewerFirst: Bool) throws {
            let dog = try Dog()
            let setup = try UploadingClient(dog.sample)
            try setup.store([
                .create(dog.sample.dog(1), [dog.home: dog.place("a", yard: .embedded([.integer(1), .real(1)]))])
            ])
            let (old, new) = (try UploadingClient(dog.sample), try UploadingClient(dog.sample))
            let changes = [
                { try old.store(dog.update(dog.member(2, 0), .integer(9)), milliseconds: 1_800_000_000_000) },
                { try new.store(dog.update(dog.member(2, 1), .real(0.5)), milliseconds: 1_800_000_000_001) },
            ]
            for change in isNewerFirst ? changes.reversed() : changes { _ = try change() }
            #expect(try dog.values()[dog.home] == dog.place("a", yard: .embedded([.integer(9), .real(0.5)])))
        }

        @Test("the newer of two changes of one member wins, even if it writes the value that the member already has")
        func conflict() throws {
            let dog = try Dog()
            let setup = try UploadingClient(dog.sample)
            try setup.store([.create(dog.sample.dog(1), [dog.home: dog.place("a")])])
            let (old, new) = (try UploadingClient(dog.sample), try UploadingClient(dog.sample))
            try new.store(dog.update(dog.member(0), .text("a")), milliseconds: 1_700_000_000_002)
            try old.store(
                [.update(dog.sample.dog(1), [dog.member(0): .text("b"), dog.member(1): .text("2")])],
                milliseconds: 1_700_000_000_001)
            #expect(try dog.values()[dog.home] == dog.place("a", "2"))
            try old.store(dog.update(dog.home, dog.place("c")), milliseconds: 1_700_000_000_001)
            #expect(try dog.values()[dog.home] == dog.place("a", "2"), "the older object loses to its newer member")
        }

        @Test("a write of a whole embedded object wins over older changes of its members, even if it changes no value")
        func wholeTouch() throws {
            let dog = try Dog()
            let setup = try UploadingClient(dog.sample)
            try setup.store([.create(dog.sample.dog(1), [dog.home: dog.place("a")])])
            let (old, new) = (try UploadingClient(dog.sample), try UploadingClient(dog.sample))
            try new.store(dog.update(dog.home, dog.place("a")), milliseconds: 1_700_000_000_002)
            try old.store(dog.update(dog.member(1), .text("2")), milliseconds: 1_700_000_000_001)
            #expect(try dog.values()[dog.home] == dog.place("a"))
        }

        @Test("a member is not written if its embedded object does not exist")
        func missingObject() throws {
            let dog = try Dog()
            try dog.sample.session.execute(
                "INSERT INTO dog (id, home) VALUES (1, NULL), (2, '{\"city\": \"x\"}'), (3, '5')")
            let client = try UploadingClient(dog.sample)
            let outcome = try client.store([
                .update(dog.sample.dog(1), [dog.member(0): .text("a")]),
                .update(dog.sample.dog(2), [dog.member(2, 0): .integer(1), dog.member(0): .text("y")]),
                .update(dog.sample.dog(3), [dog.member(0): .text("a")]),
            ])
            #expect(outcome == .stored([]))
            let stored = try dog.sample.session.query("SELECT home::text FROM dog ORDER BY id").rows
            #expect(try stored.map { try $0.text(0) } == ["", "{\"city\": \"y\"}", "5"])
        }

        @Test(
            "an object with an invalid value is reverted; an upload with a path that does not exist is rejected"
        )
        func hostile() throws {
            let dog = try Dog()
            try dog.sample.session.execute("INSERT INTO dog (id, home) VALUES (1, '{\"city\": \"x\"}')")
            for (path, value) in [
                (dog.home, SyncValue.integer(1)), (dog.home, .embedded([])), (dog.member(0), .null),
                (dog.member(0), .text("\0")), (dog.extra, .scalar(AnyLink(1, 1).stored)),
            ] {
                let client = try UploadingClient(dog.sample)
                let outcome = try client.store(dog.update(path, value))
                #expect(UploadingClient.reasons(outcome) == [dog.sample.dog(1): .invalidValue])
            }
            for path in [dog.member(9), dog.member(0, 0), ValuePath(dog.extra.properties + [0])] {
                let client = try UploadingClient(dog.sample)
                #expect(throws: InvalidUpload.self) { try client.store(dog.update(path, .null)) }
            }
        }

        @Test("JSON that is invalid for its property is read as nil or an initial value, and logged once")
        func unfitting() throws {
            let dog = try Dog()
            let lines = Mutex<[String]>([])
            dog.sample.catalog.unfitting.setLog { line in lines.withLock { $0.append(line) } }
            try dog.sample.session.execute(
                "INSERT INTO dog (id, home, anything) VALUES (1, '{\"city\": 5}', '{\"$oid\": 1}')")
            for _ in 1...2 {
                #expect(try dog.values()[dog.home] == dog.place(""))
                #expect(try dog.values()[dog.extra] == .null)
            }
            let found = lines.withLock { $0 }
            #expect(found.count == 2)
            #expect(found[0].hasPrefix("table 'dog', column 'home' of the row with the key 1: 'home.city' is a number"))
        }
    }
#endif
