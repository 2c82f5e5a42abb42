#if Postgres
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    @Suite("PostgreSQL: the log", .needsPostgres)
    struct LogTests {
        @Test("inserts, updates and deletions by SQL are logged with all values")
        func statements() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO person (id, name) VALUES (9, 'Ada')")
            let cursor = try sample.now()
            try sample.session.execute(
                """
                INSERT INTO dog (id, name, weight, born, price, code, token, photo, size, owner)
                VALUES (1, 'Rex', 1.5, '2001-01-01 00:00:01.5Z', 12.50, '\\x000102030405060708090a0b',
                    '00010203-0405-0607-0809-0a0b0c0d0e0f', '\\xff00', 'large', 9);
                UPDATE dog SET name = 'Max', owner = NULL WHERE id = 1;
                DELETE FROM dog WHERE id = 1;
                """)
            let entries = try sample.changes(after: cursor).entries
            #expect(entries.map(\.address) == [sample.dog(1), sample.dog(1), sample.dog(1)])
            #expect(entries.allSatisfy { $0.origin == nil && !$0.isTouch })
            let first = try sample.values([
                "id": .integer(1), "name": .text("Rex"), "age": .integer(3), "weight": .real(1.5), "born": .real(1.5),
                "price": .scalar(.blob(try decimal("12.5"))), "code": .scalar(.blob([UInt8](0..<12))),
                "token": .scalar(.blob([UInt8](0..<16))), "photo": .scalar(.blob([255, 0])), "size": .text("large"),
                "chipNumber": .null, "owner": .link(sample.person(9)), "keeper": .null, "vet": .null,
                "walks": .integer(0), "home": .null, "anything": .null,
            ])
            let second = first.merging(try sample.values(["name": .text("Max"), "owner": .null])) { $1 }
            #expect(entries.map(\.old) == [nil, first, second])
            #expect(entries.map(\.new) == [first, second, nil])
        }

        @Test("a reading without a cursor returns the whole log, and a cursor for the next reading")
        func wholeLog() throws {
            let sample = try SampleDatabase()
            let reader = LogReader(sample.catalog)
            var keys: [ObjectAddress] = []
            func read(after cursor: SyncCursor?) throws -> SyncCursor {
                try reader.read(after: cursor, in: sample.session) { keys += [$0.entry].compactMap { $0?.address } }
            }
            var cursor = try read(after: nil)
            #expect(keys.isEmpty)
            cursor = try read(after: cursor)
            try sample.session.execute("INSERT INTO person (id, name) VALUES (9, 'Ada'), (10, 'Bea')")
            cursor = try read(after: cursor)
            #expect(keys == [sample.person(9), sample.person(10)])
            cursor = try read(after: nil)
            #expect(keys.count == 4)
            cursor = try read(after: cursor)
            #expect(keys.count == 4)
        }

        private func decimal(_ text: String) throws -> [UInt8] {
            let bytes = try #require(try PostgresType.numeric.encode(.text(text)))
            let value = try bytes.withUnsafeBytes { try SyncColumnType.decimal.decode($0) }
            guard case .blob(let stored) = value else { return [] }
            return stored
        }

        @Test("updates that change nothing are not logged, but a change of the sign of zero is logged")
        func unchanged() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, weight) VALUES (1, 0)")
            let cursor = try sample.now()
            try sample.session.execute("UPDATE dog SET name = name, weight = weight")
            try sample.session.execute("UPDATE dog SET weight = '-0'")
            let entries = try sample.changes(after: cursor).entries
            let weight = try sample.path(sample.dog, "weight")
            #expect(entries.map { $0.new?[weight] } == [.real(-0.0)])
        }

        @Test("a change of a primary key is logged as a deletion and an insertion")
        func newKeys() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id) VALUES (1)")
            let cursor = try sample.now()
            try sample.session.execute("UPDATE dog SET id = 2")
            let entries = try sample.changes(after: cursor).entries
            #expect(entries.map(\.address) == [sample.dog(1), sample.dog(2)])
            #expect(
                entries.map { ($0.old == nil, $0.new == nil) }.elementsEqual([(false, true), (true, false)], by: ==))
        }

        @Test("rows that COPY inserts, and rows that foreign keys delete or change, are logged")
        func copiesAndCascades() throws {
            let sample = try SampleDatabase()
            let cursor = try sample.now()
            try sample.session.execute("INSERT INTO person (id) VALUES (1)")
            var id: Int64 = 0
            _ = try sample.session.copyIn("COPY dog (id, keeper, owner) FROM STDIN (FORMAT binary)") { writer in
                id += 1
                let person = PostgresType.bigEndian(Int64(1))
                writer.row([PostgresType.bigEndian(id), id == 1 ? person : nil, person])
                return id < 3
            }
            try sample.session.execute("DELETE FROM person")
            let entries = try sample.changes(after: cursor).entries
            #expect(
                entries.prefix(4).map(\.address) == [sample.person(1), sample.dog(1), sample.dog(2), sample.dog(3)])
            let final = Dictionary(entries.map { ($0.address, $0.new) }) { $1 }
            let owner = try sample.path(sample.dog, "owner")
            #expect(final[sample.person(1)] == .some(nil))
            #expect(final[sample.dog(1)] == .some(nil))
            #expect(final[sample.dog(2)]??[owner] == .null)
        }

        @Test("TRUNCATE is logged as the deletion of each row, and is refused in REPEATABLE READ")
        func truncation() throws {
            let sample = try SampleDatabase()
            try sample.session.execute(
                "INSERT INTO dog (id) SELECT generate_series(1, 3); INSERT INTO tag VALUES ('a')")
            let cursor = try sample.now()
            try sample.session.execute(
                "BEGIN; INSERT INTO dog (id) VALUES (4); SET CONSTRAINTS ALL IMMEDIATE; TRUNCATE dog CASCADE; COMMIT")
            let entries = try sample.changes(after: cursor).entries
            #expect(entries.map { $0.new == nil } == [false, true, true, true, true])
            #expect(Set(entries.map(\.address)) == Set((1...4).map(sample.dog)))
            let error = #expect(throws: PostgresError.self) {
                try sample.session.transaction(.repeatableRead) { try sample.session.execute("TRUNCATE tag") }
            }
            #expect(error?.hint == "Use DELETE.")
        }

        @Test("if a trigger of the user changes the same row again, its change is logged after the first change")
        func triggersOfTheUser() throws {
            let sample = try SampleDatabase()
            try sample.session.execute(
                """
                CREATE FUNCTION grow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    UPDATE dog SET age = age + 1 WHERE id = NEW.id AND age < 10; RETURN NULL; END $$;
                CREATE TRIGGER "A" AFTER INSERT ON dog FOR EACH ROW EXECUTE FUNCTION grow();
                """)
            let cursor = try sample.now()
            try sample.session.execute("INSERT INTO dog (id, age) VALUES (1, 5)")
            let age = try sample.path(sample.dog, "age")
            #expect(try sample.changes(after: cursor).entries.map { $0.new?[age] } == [.integer(5), .integer(6)])
        }

        @Test("writers need no rights on the log, and the triggers also run during replication")
        func rights() throws {
            let sample = try SampleDatabase()
            let cursor = try sample.now()
            try sample.session.execute(
                """
                DO $$ BEGIN CREATE ROLE writer; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
                GRANT INSERT ON tag TO writer; SET ROLE writer; INSERT INTO tag VALUES ('a'); RESET ROLE;
                SET session_replication_role = replica; INSERT INTO tag VALUES ('b'); RESET session_replication_role;
                """)
            #expect(try sample.changes(after: cursor).entries.map(\.address.key) == [.text("a"), .text("b")])
            #expect(throws: PostgresError.self) {
                try sample.session.execute("SET ROLE writer; SELECT * FROM martlet.log")
            }
            let error = #expect(throws: PostgresError.self) {
                try sample.session.execute(
                    """
                    SET ROLE writer; CREATE TEMP TABLE mine (id bigint);
                    CREATE TRIGGER forge AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION martlet.log_1();
                    """)
            }
            #expect(error?.state == .insufficientPrivilege)
            try sample.session.execute("RESET ROLE")
        }

        @Test("changes that are rolled back are not logged")
        func rollback() throws {
            let sample = try SampleDatabase()
            let cursor = try sample.now()
            try sample.session.execute(
                """
                BEGIN; INSERT INTO tag VALUES ('a'); SAVEPOINT s; INSERT INTO tag VALUES ('b'); ROLLBACK TO s; COMMIT;
                BEGIN; INSERT INTO tag VALUES ('c'); ROLLBACK;
                """)
            let batch = try sample.changes(after: cursor)
            #expect(batch.entries.map(\.address.key) == [.text("a")])
            #expect(try sample.changes(after: batch.cursor).entries.isEmpty)
            // A cursor can list open transactions of other tests. The cursor changes when such a transaction ends.
            let hasOpen = try #require(SnapshotCursor(batch.cursor)).open.isEmpty == false
            #expect(try sample.changes(after: batch.cursor).cursor == batch.cursor || hasOpen)
        }

        @Test(
            "cursors that the service has not created are refused",
            arguments: ["", "1:2", "x:2:", "5:4:", "4:4:9", "9999999999:9999999999:", "1:1:", "-1:+2:", "4:5:4,4"])
        func forgedCursors(text: String) throws {
            let sample = try SampleDatabase()
            #expect(throws: LogReaderError.unknownCursor) { try sample.changes(after: SyncCursor(text)) }
        }

        @Test("a cursor from before the first deployment is refused")
        func oldCursor() throws {
            let session = try PostgresSession(newDatabase())
            let cursor = SyncCursor(
                try #require(try session.query("SELECT pg_current_snapshot()::text").first?.text(0)))
            try session.execute(SampleSchema.dogs.get().statements)
            try Deployment(SyncSchema(facts: SampleSchema.dogs.get().facts)).run(in: session)
            let catalog = try SyncCatalog(session)
            #expect(throws: LogReaderError.unknownCursor) { try LogReader(catalog).batch(after: cursor, in: session) }
        }

        @Test("the objects of a type and the cursor are read at one snapshot, and later changes follow this cursor")
        func bootstrap() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, weight) SELECT i, i FROM generate_series(1, 1000) i")
            let other = try PostgresSession(sample.address)
            var rows: [SyncRow] = []
            let cursor = try DatabaseSnapshot.read(sample.catalog, in: sample.session) { snapshot in
                try other.execute("INSERT INTO dog (id) VALUES (5000); DELETE FROM dog WHERE id = 1")
                try snapshot.rows(of: sample.dog) { rows.append($0) }
                return snapshot.cursor
            }
            #expect(Set(rows.map(\.address)) == Set((1...1000).map { sample.dog($0) }))
            let weight = try sample.path(sample.dog, "weight")
            #expect(
                rows.allSatisfy {
                    if case .integer(let id) = $0.address.key { $0.values[weight] == .real(Double(id)) } else { false }
                })
            #expect(Set(try sample.changes(after: cursor).entries.map(\.address)) == [sample.dog(5000), sample.dog(1)])
        }
    }
#endif
