#if Postgres
    import MartletEngine
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Synchronization
    import Testing

    @Suite(
        "PostgreSQL: collections of embedded objects, and collections inside of embedded objects", .needsPostgres)
    struct EmbeddedElementTests {
        private let sample: CollectionSample
        private let dog: ObjectAddress
        private let places: ValuePath
        private let named: ValuePath
        private let home: ValuePath

        init() throws {
            sample = try CollectionSample(
                """
                embedded:
                  Place:
                    properties:
                      city: String
                      zip: String?
                      owner: Person?
                      rooms: List<Int>
                      notes: Map<String?>
                      yards: List<Yard>
                  Yard: {properties: {size: Int}}
                objects:
                  Person: {primaryKey: id, sync: both, properties: {id: Int, name: String}}
                  Dog:
                    primaryKey: id
                    sync: both
                    properties: {id: Int, name: String, places: List<Place>, named: Map<Place?>, home: Place?}
                """)
            dog = sample.dog(1)
            (places, named, home) = (try sample.path("places"), try sample.path("named"), try sample.path("home"))
        }

        private func place(
            _ city: String, _ zip: String? = nil, owner: Int64? = nil, rooms: [Int64] = [],
            notes: [MapEntry] = [], yards: [Int64] = []
        ) -> SyncValue {
            .embedded([
                .text(city), zip.map(SyncValue.text) ?? .null, owner.map { .link(sample.person($0)) } ?? .null,
                .list(rooms.map(SyncValue.integer)), .map(notes), .list(yards.map { .embedded([.integer($0)]) }),
            ])
        }

        /// Creates the dog with two places, and an entry. Returns the positions of the places.
        private func create() throws -> [ListPosition] {
            let client = try CollectionClient(sample)
            let positions = client.positions(count: 2)
            let outcome = try client.store([
                .create(dog, [home: place("h", rooms: [1], yards: [2])]),
                .insertElement(dog, places, positions[0], place("a")),
                .insertElement(dog, places, positions[1], place("b")),
                .setEntry(dog, named, key: "k", place("c")),
            ])
            #expect(outcome == .stored([]))
            return positions
        }

        @Test("uploaded embedded objects are stored as JSON that SQL can read, and are delivered exactly Y27 Y28")
        func roundTrip() throws {
            let client = try CollectionClient(sample)
            let positions = client.positions(count: 2)
            let full = place(
                "Ü\u{1F600}", "1", owner: 7, rooms: [.max, 1], notes: [MapEntry(key: "$x", value: .null)], yards: [5])
            let outcome = try client.store([
                .create(dog, [home: full]), .insertElement(dog, places, positions[0], full),
                .insertElement(dog, places, positions[1], place("")),
                .setEntry(dog, named, key: "é", full), .setEntry(dog, named, key: "", .null),
            ])
            #expect(outcome == .stored([]))
            #expect(try sample.list("places") == [full, place("")])
            #expect(try sample.map("named") == ["é": full, "": .null])
            #expect(try sample.values(1)[home] == full)
            #expect(
                try sample.count("dog_places WHERE value -> 'rooms' ->> 1 = '1' AND value -> 'owner' = '7'") == 1)
            try client.store([
                .setElement(dog, places, positions[0], place("x")), .removeElement(dog, places, positions[1]),
                .setEntry(dog, named, key: "", full), .removeEntry(dog, named, key: "é"),
            ])
            #expect(try sample.list("places") == [place("x")])
            #expect(try sample.map("named") == ["": full])
        }

        @Test(
            "the newer of two changes of one element wins as a whole; changes of different elements are kept Y23 Y27",
            arguments: [true, false])
        func conflicts(isNewerFirst: Bool) throws {
            let positions = try create()
            let (old, new) = (try CollectionClient(sample), try CollectionClient(sample))
            let changes = [
                {
                    try old.store(
                        [
                            .setElement(dog, places, positions[0], place("old", "1")),
                            .setElement(dog, places, positions[1], place("b", "1")),
                            .setEntry(dog, named, key: "k", place("old", "1")),
                        ], time: 2)
                },
                {
                    try new.store(
                        [
                            .setElement(dog, places, positions[0], place("new")),
                            .setEntry(dog, named, key: "k", place("new")),
                            .setEntry(dog, named, key: "l", place("l")),
                        ], time: 3)
                },
            ]
            for change in isNewerFirst ? changes.reversed() : changes { _ = try change() }
            #expect(try sample.list("places") == [place("new"), place("b", "1")])
            #expect(try sample.map("named") == ["k": place("new"), "l": place("l")])
        }

        @Test("a removed element remains removed, and a change without an effect is logged with its time stamp Y22")
        func removals() throws {
            let positions = try create()
            let (old, new) = (try CollectionClient(sample), try CollectionClient(sample))
            try new.store(
                [
                    .removeElement(dog, places, positions[0]), .setElement(dog, places, positions[1], place("b")),
                    .setEntry(dog, named, key: "k", place("c")),
                ], time: 3)
            try old.store(
                [
                    .setElement(dog, places, positions[0], place("x")),
                    .setElement(dog, places, positions[1], place("x")), .setEntry(dog, named, key: "k", place("x")),
                ], time: 2)
            #expect(try sample.list("places") == [place("b")])
            #expect(try sample.map("named") == ["k": place("c")])
        }

        @Test(
            "a change of a collection inside an embedded object does not conflict with changes of other members Y28",
            arguments: [true, false])
        func innerCollections(isNewerFirst: Bool) throws {
            _ = try create()
            let (old, new) = (try CollectionClient(sample), try CollectionClient(sample))
            func member(_ index: Int) -> ValuePath { ValuePath(home.properties + [index]) }
            let changes = [
                {
                    try old.store(
                        [
                            .update(
                                dog,
                                [
                                    member(3): .list([.integer(8)]),
                                    member(4): .map([MapEntry(key: "k", value: .text("v"))]),
                                ])
                        ], time: 2)
                },
                {
                    try new.store(
                        [.update(dog, [member(3): .list([.integer(9), .integer(1)]), member(0): .text("i")])], time: 3)
                },
            ]
            for change in isNewerFirst ? changes.reversed() : changes { _ = try change() }
            let expected = place(
                "i", rooms: [9, 1], notes: [MapEntry(key: "k", value: .text("v"))], yards: [2])
            #expect(try sample.values(1)[home] == expected)
        }

        @Test("changes by SQL are logged for the owner, and an update without an effect is not logged Y27")
        func changesBySQL() throws {
            _ = try create()
            for (statement, expected) in [
                (
                    "UPDATE dog_places SET value = jsonb_set(value, '{rooms}', '[3]') WHERE value ->> 'city' = 'b'",
                    ["places"]
                ),
                ("UPDATE dog_places SET value = value || '{\"city\": \"b\"}' WHERE value ->> 'city' = 'b'", []),
                ("INSERT INTO dog_places (owner, value) VALUES (1, '{\"city\": \"s\", \"rooms\": null}')", ["places"]),
                ("UPDATE dog_named SET value = NULL", ["named"]),
                ("UPDATE dog SET home = jsonb_set(home, '{yards, 0, size}', '4')", []),
            ] {
                let cursor = try sample.now()
                try sample.session.execute(statement)
                #expect(try sample.changed(sample.entries(after: cursor)) == expected, "\(statement)")
            }
            #expect(try sample.list("places") == [place("a"), place("b", rooms: [3]), place("s")])
            #expect(try sample.map("named") == ["k": .null])
            #expect(try sample.values(1)[home] == place("h", rooms: [1], yards: [4]))
        }

        @Test("invalid JSON values of elements are read as nil or initial values, and the service logs the locations")
        func unfitting() throws {
            let lines = Mutex<[String]>([])
            sample.catalog.unfitting.setLog { line in lines.withLock { $0.append(line) } }
            try sample.session.execute(
                """
                INSERT INTO dog (id, name) VALUES (1, 'Rex');
                INSERT INTO dog_places (owner, value) VALUES (1, '5'), (1, 'null'), (1, '{"city": "x", "rooms": "y"}');
                INSERT INTO dog_named VALUES (1, 'k', '[]')
                """)
            #expect(try sample.list("places") == [place(""), place(""), place("x")])
            #expect(try sample.map("named") == ["k": .null])
            let found = lines.withLock { $0 }
            #expect(found.contains { $0.hasPrefix("an element of the table 'dog_places': 'places' is a number") })
            #expect(found.contains { $0.contains("'places.rooms' is a text") })
        }

        @Test("an object with an invalid element is reverted; a path into an element is rejected")
        func hostile() throws {
            let positions = try create()
            for value in [
                SyncValue.null, .integer(1), .embedded([]), .list([]), place("\0"),
                .embedded([.text("x"), .null, .null, .null, .map([]), .list([])]),
                .embedded([.text("x"), .null, .null, .list([.null]), .map([]), .list([])]),
            ] {
                let client = try CollectionClient(sample)
                let outcome = try client.store([.setElement(dog, places, positions[0], value)])
                #expect(UploadingClient.reasons(outcome)?.keys.map { $0 } == [dog], "\(value)")
            }
            for operation in [
                SyncOperation.update(dog, [ValuePath(places.properties + [0]): .text("x")]),
                .setElement(dog, ValuePath(home.properties + [3]), positions[0], .integer(1)),
                .update(dog, [ValuePath(home.properties + [5, 0]): .integer(1)]),
            ] {
                let client = try CollectionClient(sample)
                #expect(throws: InvalidUpload.self) { try client.store([operation]) }
            }
            #expect(try sample.list("places") == [place("a"), place("b")])
        }

        @Test("'deploy' refuses collections with 'onDelete: cascade', also inside of embedded objects")
        func cascades() throws {
            for owner in ["object Dog\nprimaryKey id\nsync both\nproperty id Int", "embedded Place"] {
                let others =
                    owner.hasPrefix("embedded")
                    ? "object Dog\nprimaryKey id\nsync both\nproperty id Int\nproperty home embedded:Place?\n\n" : ""
                let facts = others + owner + "\nproperty friends List<link:Dog> onDelete=cascade\n"
                let error = #expect(throws: SyncSchemaError.self) { try SyncSchema(facts: facts) }
                #expect(error?.description.contains("onDelete: cascade") == true)
            }
        }
    }
#endif
