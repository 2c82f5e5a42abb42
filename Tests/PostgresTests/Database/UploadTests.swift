#if Postgres
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    @Suite("PostgreSQL: uploads", .needsPostgres)
    struct UploadTests {
        private func name(_ sample: SampleDatabase, _ id: Int64) throws -> String? {
            try sample.session.query("SELECT name FROM dog WHERE id = $1", [.bigint(id)]).first?.text(0)
        }

        @Test("an upload can create, change and delete objects and link them in any order; missing values get defaults")
        func operations() throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            let named = try sample.values(["name": .text("Rex"), "owner": .link(sample.person(1))])
            let outcome = try client.store([
                .create(sample.dog(1), named), .create(sample.person(1), [:]), .create(sample.dog(2), [:]),
                .update(sample.dog(1), try sample.values(["age": .integer(7)])), .delete(sample.dog(2)),
            ])
            #expect(outcome == .stored([]))
            let row = try sample.session.query("SELECT name, age::int, owner FROM dog WHERE id = 1").first
            #expect(try row?.text(0) == "Rex")
            #expect(try row?.integer(1) == 7)
            #expect(try row?.bigint(2) == 1)
            #expect(try sample.count("dog") == 1)
        }

        @Test("an upload is stored once; an upload after a gap is not stored")
        func exactlyOnce() throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            let upload = client.upload([.create(sample.dog(1), [:])])
            #expect(try client.store(upload) == .stored([]))
            try sample.session.execute("DELETE FROM dog")
            #expect(try client.store(upload) == .duplicate)
            #expect(try sample.count("dog") == 0)
            _ = client.upload([])
            #expect(try client.store(client.upload([.create(sample.dog(2), [:])])) == .gap(stored: 1))
            #expect(try sample.count("dog") == 0)
            // This upload has the number of a stored upload, but another time stamp. Such an upload comes from a copy
            // of the client's file.
            var other = upload
            other.time = HybridTimestamp(milliseconds: 1_700_000_000_001)
            #expect(try client.store(other) == .unknownClient)
            let time = HybridTimestamp(milliseconds: 1_700_000_000_000).rawValue
            #expect(try sample.client(client.identity) == .known(storedUpload: 1, storedTime: time))
            let unknown = try UploadWriter(sample.catalog).store(upload, of: 99_999, in: sample.session)
            #expect(unknown == .unknownClient)
        }

        @Test("an upload that arrives over two connections of its client at the same time is stored once")
        func twoConnections() async throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            let (writer, id) = (UploadWriter(sample.catalog), client.identity.id)
            let first = try await PostgresConnection(sample.address)
            let second = try await PostgresConnection(sample.address)
            for number in 1...10 {
                let upload = client.upload([.create(sample.dog(Int64(number)), [:])])
                async let one = first.run { try writer.store(upload, of: id, in: $0) }
                async let two = second.run { try writer.store(upload, of: id, in: $0) }
                let outcomes = try await [one, two]
                #expect(outcomes.contains(.stored([])))
                #expect(outcomes.contains(.duplicate))
            }
            #expect(try sample.count("martlet.log") == 10)
        }

        @Test("the service recognizes a client only if the client sends its secret")
        func secrets() throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            #expect(client.identity.secret.count == 32)
            let forged = ClientIdentity(id: client.identity.id, secret: [1])
            #expect(try sample.client(forged) == .unknown)
            #expect(try sample.client(client.identity) == .known(storedUpload: 0))
        }

        @Test("the newer of two values of a property wins, in either order of uploads", arguments: [true, false])
        func newestWins(isNewerFirst: Bool) throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id) VALUES (1)")
            let clients = [try UploadingClient(sample), try UploadingClient(sample)]
            for isNewer in [isNewerFirst, !isNewerFirst] {
                let client = clients[isNewer ? 1 : 0]
                let other: [String: SyncValue] = isNewer ? ["age": .integer(9)] : ["weight": .real(2)]
                try client.store(
                    [
                        .update(
                            sample.dog(1),
                            try sample.values(other.merging(["name": .text(isNewer ? "newer" : "older")]) { $1 }))
                    ], milliseconds: isNewer ? 1_700_000_000_002 : 1_700_000_000_001)
            }
            #expect(try name(sample, 1) == "newer")
            // Properties that only one client has written do not conflict.
            let row = try sample.session.query("SELECT age::int, weight::int FROM dog").first
            #expect(try row?.integer(0) == 9)
            #expect(try row?.integer(1) == 2)
        }

        @Test(
            "if two values have equal time stamps, the value of the client with the greater number wins",
            arguments: [true, false])
        func equalTimes(isGreaterFirst: Bool) throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id) VALUES (1)")
            let clients = [try UploadingClient(sample), try UploadingClient(sample)]
            for index in isGreaterFirst ? [1, 0] : [0, 1] {
                try clients[index].store([.update(sample.dog(1), try sample.values(["name": .text("\(index)")]))])
            }
            #expect(try name(sample, 1) == "1")
        }

        @Test("an upload wins over values that its base contains, and over earlier uploads of the same client")
        func seenValues() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id) VALUES (1)")
            let (slow, fast) = (try UploadingClient(sample), try UploadingClient(sample))
            try fast.store([.update(sample.dog(1), try sample.values(["name": .text("fast")]))])
            slow.base = try sample.now()
            try slow.store([.update(sample.dog(1), try sample.values(["name": .text("slow")]))], milliseconds: 1)
            #expect(try name(sample, 1) == "slow")
            try slow.store([.update(sample.dog(1), try sample.values(["name": .text("again")]))], milliseconds: 1)
            #expect(try name(sample, 1) == "again")
        }

        @Test("a client without a position uploads with an empty base, and newer values of the database win Y12")
        func emptyBase() throws {
            let sample = try SampleDatabase()
            let (other, client) = (try UploadingClient(sample), try UploadingClient(sample))
            try other.store([.create(sample.dog(1), try sample.values(["name": .text("Rex")]))], milliseconds: 2_000)
            client.base = SyncCursor("")
            let (older, newer) = (try sample.values(["name": .text("old")]), try sample.values(["age": .integer(9)]))
            #expect(try client.store([.create(sample.dog(2), older)], milliseconds: 1_000) == .stored([]))
            #expect(try client.store([.update(sample.dog(1), older)], milliseconds: 1_000) == .stored([]))
            #expect(try client.store([.update(sample.dog(1), newer)], milliseconds: 3_000) == .stored([]))
            #expect(try sample.count("dog WHERE id = 1 AND name = 'Rex' AND age = 9") == 1)
            #expect(try sample.count("dog WHERE id = 2 AND name = 'old'") == 1)
        }

        @Test("the service replaces a time stamp in the future by its own time, so later changes win")
        func clampedClock() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id) VALUES (1)")
            let (fast, other) = (try UploadingClient(sample), try UploadingClient(sample))
            try fast.store(
                [.update(sample.dog(1), try sample.values(["name": .text("fast")]))], milliseconds: 9_000_000_000_000)
            let now = try sample.session.query("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint")
                .first
            let later = UInt64(try #require(try now?.bigint(0))) + 1
            try sample.session.execute("SELECT pg_sleep(0.005)")
            try other.store([.update(sample.dog(1), try sample.values(["name": .text("later")]))], milliseconds: later)
            #expect(try name(sample, 1) == "later")
        }

        @Test("a write wins over an older value, even if the property already has the written value")
        func equalValues() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, name) VALUES (1, 'same')")
            let (first, second) = (try UploadingClient(sample), try UploadingClient(sample))
            try first.store(
                [.update(sample.dog(1), try sample.values(["name": .text("same"), "age": .integer(9)]))],
                milliseconds: 1_700_000_000_002)
            try second.store(
                [.update(sample.dog(1), try sample.values(["name": .text("older")]))],
                milliseconds: 1_700_000_000_001)
            #expect(try name(sample, 1) == "same")
        }

        @Test("a deletion wins over an update; a creation after the deletion creates a new object")
        func deletions() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, name) VALUES (1, 'old')")
            let (first, second) = (try UploadingClient(sample), try UploadingClient(sample))
            try first.store([.delete(sample.dog(1))], milliseconds: 1_700_000_000_001)
            try second.store(
                [.update(sample.dog(1), try sample.values(["name": .text("new")]))], milliseconds: 1_700_000_000_002)
            #expect(try sample.count("dog") == 0)
            try second.store([.create(sample.dog(1), try sample.values(["age": .integer(1)]))], milliseconds: 5)
            try first.store([.create(sample.dog(1), try sample.values(["name": .text("created")]))], milliseconds: 6)
            #expect(try name(sample, 1) == "created")
        }

        @Test("every object of an upload is logged with the upload as its origin, even if it has not changed")
        func touches() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, name) VALUES (1, 'same'), (2, 'b')")
            let client = try UploadingClient(sample)
            let cursor = client.base
            try client.store([
                .update(sample.dog(1), try sample.values(["name": .text("same")])), .delete(sample.dog(3)),
                .update(sample.dog(2), try sample.values(["name": .text("c")])),
                .create(sample.dog(4), try sample.values(["name": .text("a\0b")])),
            ])
            let batch = try sample.changes(after: cursor)
            #expect(Set(batch.entries.map(\.address)) == Set([1, 2, 3, 4].map(sample.dog)))
            #expect(batch.entries.count == 4)
            #expect(batch.entries.allSatisfy { $0.origin == .init(client: client.identity.id, upload: 1) })
            #expect(batch.entries.map(\.isTouch) == [false, true, true, true])
            let path = try sample.path(sample.dog, "name")
            let states = Dictionary(uniqueKeysWithValues: batch.entries.map { ($0.address, $0.new?[path]) })
            #expect(states[sample.dog(1)] == .text("same"))
            #expect(states[sample.dog(3)] == .some(nil))
            #expect(batch.uploads == [client.identity.id: 1])
        }

        @Test("an upload without operations and an upload with a key that no row can have are acknowledged")
        func emptyUploads() throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            let cursor = client.base
            #expect(try client.store([]) == .stored([]))
            var batch = try sample.changes(after: cursor)
            #expect(batch.entries.isEmpty)
            #expect(batch.uploads == [client.identity.id: 1])
            let address = ObjectAddress(type: sample.tag, key: .text("a\0"))
            let long = ObjectAddress(
                type: sample.tag, key: .text(String((0..<9_000).map { Character("\(($0 * $0 * 7_919) % 10)") })))
            #expect(
                UploadingClient.reasons(try client.store([.create(address, [:]), .create(long, [:])]))?.count ?? 0 >= 1)
            batch = try sample.changes(after: batch.cursor)
            #expect(Set(batch.entries.map(\.address)) == [address, long])
            #expect(batch.uploads == [client.identity.id: 2])
        }

        @Test("objects that violate constraints are reverted, others are stored, and no reason contains values of rows")
        func reverted() throws {
            let sample = try SampleDatabase()
            try sample.session.execute(
                """
                INSERT INTO dog (id, name, chip_number) VALUES (100, 'other', 'secret-4711');
                INSERT INTO pack (id) VALUES (8);
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF NEW.name = 'refused' THEN RAISE EXCEPTION 'no dog is named secret-4711'; END IF; RETURN NEW; END $$;
                CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON dog FOR EACH ROW EXECUTE FUNCTION refuse();
                """)
            let client = try UploadingClient(sample)
            let pack = ObjectAddress(type: sample.pack, key: .integer(8))
            let outcome = try client.store([
                .create(sample.dog(1), try sample.values(["size": .text("huge")])),
                .create(sample.dog(2), try sample.values(["chipNumber": .text("secret-4711")])),
                .create(sample.dog(3), try sample.values(["owner": .link(sample.person(77))])),
                .create(sample.dog(4), try sample.values(["age": .integer(300)])),
                .create(sample.dog(5), try sample.values(["name": .text("refused")])),
                .create(sample.dog(6), try sample.values(["name": .null])),
                .create(sample.dog(7), [try sample.path(sample.dog, "home"): .embedded([.text("x")])]),
                .insertElement(
                    pack, try sample.path(sample.pack, "dogs"), try #require(ListPosition([1])),
                    .link(sample.person(1))),
                .create(sample.dog(9), try sample.values(["name": .text("kept")])),
            ])
            #expect(
                UploadingClient.reasons(outcome) == [
                    sample.dog(1): .constraint, sample.dog(2): .constraint, sample.dog(3): .constraint,
                    sample.dog(4): .invalidValue, sample.dog(5): .constraint, sample.dog(6): .invalidValue,
                    sample.dog(7): .invalidValue, pack: .invalidValue,
                ])
            guard case .stored(let objects) = outcome else { return }
            #expect(objects.map(\.address) == (1...7).map(sample.dog) + [pack])
            #expect(objects.allSatisfy { !$0.message.contains("4711") && !$0.message.contains("77") })
            #expect(
                objects[1].message == "a value that must be unique exists already (constraint 'dog_chip_number_key')")
            #expect(
                try sample.session.query("SELECT string_agg(id::text, ',' ORDER BY id) FROM dog").first?.text(0)
                    == "9,100")
        }

        @Test("the newest reverts are stored with their uploads, so that the service can notify the client again")
        func notices() throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            try sample.session.execute("INSERT INTO dog (id, name, chip_number) VALUES (1, 'Rex', 'a')")
            let values = try sample.values(["name": .text("Max"), "chipNumber": .text("a")])
            func notices() throws -> [UInt64] {
                guard case .known(_, _, let reverted) = try sample.client(client.identity) else { return [] }
                #expect(reverted.allSatisfy { $0.objects.map(\.address) == [sample.dog(2)] })
                return reverted.map(\.number)
            }
            #expect(try notices().isEmpty)
            try client.store([.create(sample.dog(2), values)])
            try client.store([.create(sample.dog(3), [:])])
            try client.store([.create(sample.dog(2), values)])
            #expect(try notices() == [1, 3])
            for number in 4...64 { try client.store([.delete(sample.dog(Int64(number)))]) }
            try client.store([.create(sample.dog(2), values)])
            #expect(try notices() == [3, 65])
        }

        @Test("all operations of a refused object are reverted, even if operations of other objects are between them")
        func revertedAsAWhole() throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            let outcome = try client.store([
                .create(sample.dog(1), [:]), .create(sample.dog(2), [:]),
                .update(sample.dog(1), try sample.values(["size": .text("huge")])),
            ])
            #expect(UploadingClient.reasons(outcome) == [sample.dog(1): .constraint])
            #expect(try sample.session.query("SELECT string_agg(id::text, ',') FROM dog").first?.text(0) == "2")
        }

        @Test("a deletion that a foreign key denies, and an object with a link to a reverted object, are reverted")
        func deniedDeletions() throws {
            let sample = try SampleDatabase()
            try sample.session.execute(
                "INSERT INTO person (id) VALUES (1), (2); INSERT INTO dog (id, vet) VALUES (10, 1); INSERT INTO dog (id, keeper) VALUES (11, 2)"
            )
            let client = try UploadingClient(sample)
            var outcome = try client.store([.delete(sample.person(1)), .delete(sample.person(2))])
            #expect(UploadingClient.reasons(outcome) == [sample.person(1): .constraint])
            #expect(try sample.session.query("SELECT string_agg(id::text, ',') FROM dog").first?.text(0) == "10")
            outcome = try client.store([
                .create(sample.person(5), [ValuePath(1): .text("a\0")]),
                .create(sample.dog(20), try sample.values(["owner": .link(sample.person(5))])),
                .create(sample.dog(21), try sample.values(["vet": .link(sample.person(1))])),
            ])
            #expect(UploadingClient.reasons(outcome) == [sample.person(5): .invalidValue, sample.dog(20): .constraint])
        }

        @Test("two objects can exchange unique values; if two new objects have equal values, the first is stored")
        func uniqueValues() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, chip_number) VALUES (1, 'a'), (2, 'b')")
            let client = try UploadingClient(sample)
            func set(_ id: Int64, _ chip: String) throws -> SyncOperation {
                .create(sample.dog(id), try sample.values(["chipNumber": .text(chip)]))
            }
            #expect(try client.store([try set(1, "b"), try set(2, "a")]) == .stored([]))
            #expect(
                UploadingClient.reasons(try client.store([try set(3, "c"), try set(4, "c")])) == [
                    sample.dog(4): .constraint
                ])
        }

        @Test("if many objects have equal unique values, only the objects that violate the constraint are refused Y13")
        func manyEqualValues() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, chip_number) VALUES (1000, 'c7'), (1, 'c8')")
            let client = try UploadingClient(sample)
            // The objects 100 to 199 have the chip numbers c0 to c49, each twice. Other dogs already have c7 and c8.
            let operations: [SyncOperation] = try (100..<200).map {
                .create(sample.dog($0), try sample.values(["chipNumber": .text("c\($0 % 50)")]))
            }
            let reasons = try #require(UploadingClient.reasons(try client.store(operations)))
            #expect(Set(reasons.keys) == Set((Array(150..<200) + [107, 108]).map { sample.dog(Int64($0)) }))
            #expect(reasons.values.allSatisfy { $0 == .constraint })
            #expect(try sample.count("dog") == 50)
        }

        @Test("the rows that a cascade deletes are logged with the upload as their origin")
        func cascades() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO person (id) VALUES (1); INSERT INTO dog (id, keeper) VALUES (1, 1)")
            let client = try UploadingClient(sample)
            try client.store([.delete(sample.person(1))])
            let entries = try sample.changes(after: client.base).entries
            #expect(entries.map(\.address) == [sample.person(1), sample.dog(1)])
            #expect(entries.allSatisfy { $0.new == nil && $0.origin?.client == client.identity.id })
        }

        @Test("an object that a trigger refuses with any error code is reverted, and the others are stored Y13")
        func triggerErrors() throws {
            let sample = try SampleDatabase()
            try sample.session.execute(
                """
                CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF NEW.note <> '' THEN RAISE EXCEPTION 'no' USING ERRCODE = NEW.note; END IF;
                    RETURN NEW;
                END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON tag FOR EACH ROW EXECUTE FUNCTION public.refuse()
                """)
            let client = try UploadingClient(sample)
            let note = try sample.path(sample.tag, "note")
            for code in ["MY001", "P0002", "P0004", "21000", "0A000", "99999"] {
                let (bad, good) = (
                    ObjectAddress(type: sample.tag, key: .text("bad \(code)")),
                    ObjectAddress(type: sample.tag, key: .text("good \(code)"))
                )
                let outcome = try client.store([
                    .create(bad, [note: .text(code)]), .create(good, [note: .text("")]),
                ])
                #expect(UploadingClient.reasons(outcome) == [bad: .constraint], "\(code)")
            }
            #expect(try sample.count("tag") == 6)
            // The object is not the cause of the error 55P03 (lock not available). So the object is not reverted, and
            // the client can send the upload again.
            #expect(throws: PostgresError.self) {
                let address = ObjectAddress(type: sample.tag, key: .text("locked"))
                try client.store([.create(address, [note: .text("55P03")])])
            }
        }

        @Test("an upload that no correct client sends causes an error, and nothing is stored")
        func invalidUploads() throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            let place = try #require(sample.catalog.schema.number(of: "Place"))
            for operation in [
                SyncOperation.create(ObjectAddress(type: 99, key: .integer(1)), [:]),
                .create(ObjectAddress(type: place, key: .integer(1)), [:]),
                .create(sample.dog(1), [ValuePath(99): .integer(1)]),
            ] {
                let upload = ClientMessage.Upload(
                    number: 1, base: client.base, time: .zero, operations: [.create(sample.dog(2), [:]), operation])
                #expect(throws: InvalidUpload.self) { try client.store(upload) }
            }
            let forged = ClientMessage.Upload(number: 1, base: SyncCursor("x"), time: .zero, operations: [])
            #expect(throws: InvalidUpload.self) { try client.store(forged) }
            #expect(try sample.count("dog") == 0)
            #expect(try sample.client(client.identity) == .known(storedUpload: 0))
        }

        @Test("a client gets a change by another transaction, even if its own touch is committed before that change")
        func concurrentTouch() throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            let other = try PostgresSession(sample.address)
            // The insertion is logged before the touch, and committed after it.
            try other.execute("BEGIN; INSERT INTO dog (id, name) VALUES (1, 'x')")
            try client.store([.update(sample.dog(1), try sample.values(["name": .text("y")]))])
            try other.execute("COMMIT")
            let entries = try sample.changes(after: client.base).entries
            #expect(entries.map(\.isTouch) == [false, true])
            let changes = ClientChanges(entries, for: client.identity.id) { _, _ in true }
            #expect(changes.leaving.isEmpty)
            #expect(changes.rows.map(\.address) == [sample.dog(1)])
            #expect(changes.rows.first?.values[try sample.path(sample.dog, "name")] == .text("x"))
        }
    }
#endif
