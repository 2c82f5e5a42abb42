#if Postgres
    import MartletEngine
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    @Suite("PostgreSQL: lists, sets and maps", .needsPostgres)
    struct CollectionTests {
        @Test("uploaded elements are stored in the tables of their collections, and new subscriptions get them")
        func roundTrip() throws {
            let sample = try CollectionSample()
            try sample.session.execute("INSERT INTO person (id, name) VALUES (7, 'Ada')")
            let client = try CollectionClient(sample)
            let dog = sample.dog(1)
            let names = client.positions(count: 2)
            let owner = client.positions()[0]
            let any: SyncValue = .list([.integer(1), .text("x"), .link(sample.person(7))])
            let outcome = try client.store([
                .create(dog, [try sample.path("name"): .text("Rex")]),
                .insertElement(dog, try sample.path("names"), names[0], .text("a")),
                .insertElement(dog, try sample.path("names"), names[1], .text("b")),
                .insertElement(dog, try sample.path("owners"), owner, .link(sample.person(7))),
                .insertMember(dog, try sample.path("friends"), .link(dog)),
                .insertMember(dog, try sample.path("weights"), .real(1.5)),
                .insertMember(dog, try sample.path("weights"), .null),
                .setEntry(dog, try sample.path("scores"), key: "é", .integer(5)),
                .setEntry(dog, try sample.path("scores"), key: "", .null),
                .insertElement(dog, try sample.path("extras"), owner, any),
            ])
            #expect(outcome == .stored([]))
            #expect(try sample.list("names") == [.text("a"), .text("b")])
            #expect(try sample.list("owners") == [.link(sample.person(7))])
            #expect(try sample.set("friends") == [.link(dog)])
            #expect(try Set(sample.set("weights")) == [.real(1.5), .null])
            #expect(try sample.map("scores") == ["é": .integer(5), "": .null])
            #expect(try sample.list("extras") == [any])
            #expect(try sample.values(1)[sample.path("names")]?.elements?.map(\.position) == names)
            try client.store([
                .removeElement(dog, try sample.path("names"), names[0]),
                .setElement(dog, try sample.path("names"), names[1], .text("c")),
                .removeMember(dog, try sample.path("weights"), .null),
                .removeEntry(dog, try sample.path("scores"), key: ""),
            ])
            #expect(try sample.list("names") == [.text("c")])
            #expect(try sample.set("weights") == [.real(1.5)])
            #expect(try sample.map("scores") == ["é": .integer(5)])
        }

        @Test("each change of an element by SQL, a cascade or TRUNCATE is logged as an entry of its owner")
        func log() throws {
            let sample = try CollectionSample()
            try sample.session.execute(
                """
                INSERT INTO person (id, name) VALUES (7, 'Ada');
                INSERT INTO dog (id, name) VALUES (1, 'Rex'), (2, 'Max')
                """)
            for (statement, expected) in [
                ("INSERT INTO dog_names (owner, value) VALUES (1, 'a'), (1, 'b')", ["names", "names"]),
                ("UPDATE dog_names SET value = 'c' WHERE value = 'b'", ["names"]),
                ("UPDATE dog_names SET value = value", []),
                ("UPDATE dog_names SET owner = 2 WHERE value = 'a'", ["names", "names"]),
                ("INSERT INTO dog_owners (owner, value) VALUES (1, 7)", ["owners"]),
                ("DELETE FROM person", ["owners"]),
                ("INSERT INTO dog_scores VALUES (1, 'k', 1) ON CONFLICT DO NOTHING", ["scores"]),
                ("TRUNCATE dog_names", ["names", "names"]),
                ("INSERT INTO dog_friends VALUES (1, 1)", ["friends"]),
                ("DELETE FROM dog WHERE id = 1", []),
                ("INSERT INTO dog_friends VALUES (2, 2)", ["friends"]),
                ("TRUNCATE dog CASCADE", []),
            ] as [(String, [String])] {
                let before = try sample.now()
                try sample.session.execute(statement)
                let entries = try sample.entries(after: before).filter { $0.address.type == sample.dog }
                let elements = entries.filter { !$0.collections.isEmpty }
                // `TRUNCATE dog CASCADE` may log changes of elements, but only before the deletion of their owner.
                if statement.hasSuffix("CASCADE") {
                    #expect(entries.last?.new == nil)
                } else {
                    #expect(sample.changed(elements) == expected, "\(statement)")
                }
                #expect(elements.allSatisfy { $0.old == $0.new && $0.new != nil && !$0.isTouch }, "\(statement)")
            }
            #expect(try sample.count("dog_names") == 0)
        }

        @Test("an element that SQL inserts without a position becomes the last element of its list")
        func lastPosition() throws {
            let sample = try CollectionSample()
            try sample.session.execute("INSERT INTO dog (id, name) VALUES (1, 'Rex')")
            let client = try CollectionClient(sample)
            let names = try sample.path("names")
            try client.store([.insertElement(sample.dog(1), names, client.positions()[0], .text("0"))])
            try sample.session.execute(
                """
                INSERT INTO dog_names (owner, value) SELECT 1, g::text FROM generate_series(1, 600) g;
                INSERT INTO dog_names (owner, value) VALUES (1, '601'), (1, '602')
                """)
            #expect(try sample.list("names") == (0...602).map { .text("\($0)") })
            let last = try #require(try sample.values(1)[names]?.elements?.last?.position)
            try client.store([.insertElement(sample.dog(1), names, client.positions(last)[0], .text("603"))])
            #expect(try sample.list("names").last == .text("603"))
        }

        @Test("if two clients insert at the same place, each client's elements are kept and stay consecutive")
        func concurrentInsertions() throws {
            let sample = try CollectionSample()
            let (first, second) = (try CollectionClient(sample), try CollectionClient(sample))
            let (dog, names) = (sample.dog(1), try sample.path("names"))
            try first.store([.create(dog, [:])])
            for (client, texts) in [(first, ["a", "b"]), (second, ["x", "y"])] {
                try client.store(
                    zip(client.positions(count: 2), texts).map { .insertElement(dog, names, $0, .text($1)) })
            }
            let found = try sample.list("names")
            #expect([["a", "b", "x", "y"], ["x", "y", "a", "b"]].map { $0.map(SyncValue.text) }.contains(found))
        }

        @Test("an element that was removed from a list remains removed, even if another client replaces it later")
        func removedElement() throws {
            let sample = try CollectionSample()
            let (first, second) = (try CollectionClient(sample), try CollectionClient(sample))
            let (dog, names, position) = (sample.dog(1), try sample.path("names"), first.positions()[0])
            try first.store([.create(dog, [:]), .insertElement(dog, names, position, .text("a"))])
            second.base = try sample.now()
            try first.store([.removeElement(dog, names, position)], time: 1)
            #expect(try second.store([.setElement(dog, names, position, .text("b"))], time: 2) == .stored([]))
            #expect(try sample.list("names") == [])
        }

        @Test(
            "if two clients change the same list element, map entry or set member, the newer change wins",
            arguments: [true, false])
        func newest(isNewerFirst: Bool) throws {
            let sample = try CollectionSample()
            let setup = try CollectionClient(sample)
            let (dog, names, scores) = (sample.dog(1), try sample.path("names"), try sample.path("scores"))
            let (weights, position) = (try sample.path("weights"), setup.positions()[0])
            try setup.store([
                .create(dog, [:]), .insertElement(dog, names, position, .text("a")),
                .setEntry(dog, scores, key: "k", .integer(0)), .setEntry(dog, scores, key: "l", .integer(0)),
                .insertMember(dog, weights, .real(1)),
            ])
            let (old, new) = (try CollectionClient(sample), try CollectionClient(sample))
            let changes = [
                {
                    try old.store(
                        [
                            .setElement(dog, names, position, .text("old")), .removeMember(dog, weights, .real(1)),
                            .setEntry(dog, scores, key: "k", .integer(1)),
                            .setEntry(dog, scores, key: "m", .integer(1)),
                        ], time: 2)
                },
                {
                    try new.store(
                        [
                            .setElement(dog, names, position, .text("new")), .removeMember(dog, weights, .real(1)),
                            .insertMember(dog, weights, .real(1)), .removeEntry(dog, scores, key: "k"),
                            .setEntry(dog, scores, key: "l", .integer(2)),
                        ], time: 3)
                },
            ]
            for change in isNewerFirst ? changes.reversed() : changes { _ = try change() }
            #expect(try sample.list("names") == [.text("new")])
            #expect(try sample.map("scores") == ["l": .integer(2), "m": .integer(1)])
            #expect(try sample.set("weights") == [.real(1)])
        }

        @Test("an operation without an effect is logged with its time stamp, so older operations do not replace it")
        func touches() throws {
            let sample = try CollectionSample()
            let (dog, scores, weights) = (sample.dog(1), try sample.path("scores"), try sample.path("weights"))
            try sample.session.execute(
                "INSERT INTO dog (id, name) VALUES (1, 'Rex'); INSERT INTO dog_scores VALUES (1, 'k', 1)")
            let (old, new) = (try CollectionClient(sample), try CollectionClient(sample))
            try new.store(
                [.setEntry(dog, scores, key: "k", .integer(1)), .removeMember(dog, weights, .real(2))], time: 5)
            try old.store(
                [.setEntry(dog, scores, key: "k", .integer(9)), .insertMember(dog, weights, .real(2))], time: 4)
            #expect(try sample.map("scores") == ["k": .integer(1)])
            #expect(try sample.set("weights") == [])
            // The base cursor now contains the stored value. Therefore the upload wins, although the stored value is
            // newer.
            old.base = try sample.now()
            try old.store([.setEntry(dog, scores, key: "k", .integer(9))], time: 4)
            #expect(try sample.map("scores") == ["k": .integer(9)])
        }

        @Test(
            "changes of the elements of a missing object have no effect; a link to a missing object reverts the owner"
        )
        func refusals() throws {
            let sample = try CollectionSample()
            let client = try CollectionClient(sample)
            let owners = try sample.path("owners")
            let outcome = try client.store([
                .insertElement(sample.dog(5), owners, client.positions()[0], .link(sample.person(1))),
                .create(sample.dog(1), [:]),
                .insertElement(sample.dog(1), owners, client.positions()[0], .link(sample.person(77))),
                .create(sample.dog(2), [:]),
            ])
            #expect(UploadingClient.reasons(outcome) == [sample.dog(1): .constraint])
            #expect(try sample.count("dog") == 1)
            #expect(throws: InvalidUpload.self) {
                try client.store([.insertMember(sample.dog(2), owners, .link(sample.person(1)))])
            }
            let other = try CollectionClient(sample)
            let wrong = try other.store([.insertMember(sample.dog(2), try sample.path("weights"), .text("x"))])
            #expect(UploadingClient.reasons(wrong) == [sample.dog(2): .invalidValue])
        }

        @Test("'deploy' names the tables that differ from the schema, and 'check' names the tables without triggers")
        func tables() throws {
            let sample = try CollectionSample()
            #expect(try DeploymentCheck(sample.catalog).findings(in: sample.session) == [])
            try Deployment(sample.catalog.schema).run(in: sample.session)
            #expect(try DeploymentCheck(sample.catalog).findings(in: sample.session) == [])
            try sample.session.execute("DROP TRIGGER \"00_martlet_log\" ON dog_scores")
            let findings = try DeploymentCheck(sample.catalog).findings(in: sample.session)
            #expect(findings.count == 1 && findings[0].hasPrefix("table 'dog_scores' lacks the triggers"))
            try sample.session.execute("DROP TRIGGER \"00_martlet_position\" ON dog_names")
            #expect(try DeploymentCheck(sample.catalog).findings(in: sample.session).count == 2)
            try sample.session.execute(
                """
                DROP TABLE dog_names;
                ALTER TABLE dog_scores ALTER COLUMN value TYPE text;
                ALTER TABLE dog_friends DROP CONSTRAINT dog_friends_pkey
                """)
            let error = try #require(
                #expect(throws: DeploymentError.self) { try Deployment(sample.catalog.schema).run(in: sample.session) })
            for name in ["dog_names", "dog_scores", "dog_friends"] { #expect(error.description.contains(name)) }
        }
    }

    extension CollectionSample {
        func count(_ table: String) throws -> Int {
            Int(try session.query("SELECT count(*) FROM \(table)").first?.bigint(0) ?? 0)
        }
    }
#endif
