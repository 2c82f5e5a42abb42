#if Postgres
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    @Suite("PostgreSQL: crashes of the server", .needsPostgres, .serialized)
    struct CrashTests {
        /// Commits 200 rows with `synchronous_commit = off`, and then crashes the server. Returns how many of the rows
        /// a reader sees before the crash, and how many are left after it.
        private func survivors(_ cluster: PostgresCluster, _ name: String) throws -> (seen: Int, left: Int) {
            let address = cluster.address("sample")
            let reader = try PostgresSession(address)
            let writer = try PostgresSession(address)
            try writer.execute("SET synchronous_commit = off")
            for number in 0..<200 { try writer.execute("INSERT INTO tag VALUES ('\(name) \(number)')") }
            let count = "SELECT count(*) FROM tag WHERE name LIKE '\(name) %'"
            let seen = try reader.query(count).first?.bigint(0) ?? 0
            cluster.crash()
            let left = try PostgresSession(address).query(count).first?.bigint(0) ?? 0
            return (Int(seen), Int(left))
        }

        @Test("a crash loses no row that a reader has seen, even if the writer has set synchronous_commit to off")
        func asynchronousCommits() throws {
            let cluster = try PostgresCluster()
            _ = try SampleDatabase(cluster)
            let found = try survivors(cluster, "logged")
            #expect(found.seen == 200)
            #expect(found.left == 200)
            // The triggers set `synchronous_commit` to `on`. To show that the test can fail, it checks that the same
            // steps lose commits without the triggers. PostgreSQL may write its write-ahead log at any time, so a
            // single attempt may lose nothing.
            try PostgresSession(cluster.address("sample")).execute("ALTER TABLE tag DISABLE TRIGGER ALL")
            var lost = 0
            for attempt in 0..<10 where lost == 0 {
                let found = try survivors(cluster, "unlogged \(attempt)")
                lost = found.seen - found.left
            }
            #expect(lost > 0)
            print("crash: without the trigger, \(lost) of 200 commits were lost")
        }

        @Test("a reader finds a new transaction with the number of a transaction that a crash has lost")
        func reusedNumbers() throws {
            let cluster = try PostgresCluster()
            _ = try SampleDatabase(cluster)
            // If PostgreSQL writes its write-ahead log before the crash, it does not assign the numbers again. So
            // several attempts may be needed.
            var missed = 0
            for attempt in 0..<10 where missed == 0 { missed = try missedWithoutRestriction(cluster, attempt) }
            #expect(missed > 0, "no attempt has assigned a number again, so the test has shown nothing")
        }

        /// Expects that a reader finds the entry that is written after a crash. Returns how many entries the reader
        /// would have missed if its cursor were the whole text of `pg_current_snapshot()`. This text also contains
        /// transactions that have no entries.
        private func missedWithoutRestriction(_ cluster: PostgresCluster, _ attempt: Int) throws -> Int {
            let before = try PostgresSession(cluster.address("sample"))
            try before.execute("INSERT INTO tag VALUES ('before \(attempt)')")
            // `pg_current_snapshot()` contains these transactions as ended. But PostgreSQL has written nothing about
            // them to the disk, so it can assign their numbers again after the crash.
            for _ in 0..<20 { try before.execute("BEGIN; SELECT pg_current_xact_id(); ROLLBACK") }
            let plain = try #require(try before.query("SELECT pg_current_snapshot()::text").first?.text(0))
            let cursor = try DatabaseSnapshot.read(SyncCatalog(before), in: before) { $0.cursor }
            cluster.crash()
            let session = try PostgresSession(cluster.address("sample"))
            try session.execute("INSERT INTO tag VALUES ('after \(attempt)')")
            let reader = LogReader(try SyncCatalog(session))
            let entries = try reader.batch(after: cursor, in: session).entries
            #expect(entries.map(\.address.key) == [.text("after \(attempt)")])
            // The service refuses a cursor that is newer than the database. These transactions raise the newest number.
            for _ in 0..<30 { try session.execute("BEGIN; SELECT pg_current_xact_id(); ROLLBACK") }
            return 1 - (try reader.batch(after: SyncCursor(plain), in: session).entries.count)
        }

        @Test("the epoch is the same after a crash")
        func epoch() throws {
            let cluster = try PostgresCluster()
            let epoch = try SampleDatabase(cluster).catalog.epoch
            cluster.crash()
            #expect(try SyncCatalog(PostgresSession(cluster.address("sample"))).epoch == epoch)
            #expect(epoch.contains(/^[0-9]+\.00000001$/))
        }
    }
#endif
