#if Sync
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    @Suite("PostgreSQL: crashes of the server", .needsPostgres, .serialized)
    struct CrashTests {
        private func transaction(_ session: PostgresSession) throws -> Int64 {
            try session.query("SELECT pg_current_xact_id()").first?.bigint(0) ?? 0
        }

        /// The entries of 200 commits without waiting for the disk that a reader has seen, and those that are in the log after
        /// a crash.
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

        @Test("a crash loses nothing that a reader has seen, although a writer does not wait for the disk")
        func asynchronousCommits() throws {
            let cluster = try PostgresCluster()
            _ = try SampleDatabase(cluster)
            let found = try survivors(cluster, "logged")
            #expect(found.seen == 200)
            #expect(found.left == 200)
            // The same without the triggers loses commits, so the test can fail.
            try PostgresSession(cluster.address("sample")).execute("ALTER TABLE tag DISABLE TRIGGER ALL")
            let lost = try survivors(cluster, "unlogged")
            #expect(lost.left < lost.seen)
            print("crash: without the trigger, \(lost.seen - lost.left) of \(lost.seen) commits were lost")
        }

        @Test("a transaction that gets the number of a lost one is read")
        func reusedNumbers() throws {
            let cluster = try PostgresCluster()
            let sample = try SampleDatabase(cluster)
            try sample.session.execute("INSERT INTO tag VALUES ('first')")
            // Transactions that were rolled back are visible to a snapshot, but nothing of them is durable.
            for _ in 0..<50 { try sample.session.execute("BEGIN; SELECT pg_current_xact_id(); ROLLBACK") }
            let newest = try transaction(sample.session)
            let plain = try sample.session.query("SELECT pg_current_snapshot()::text").first?.text(0)
            let cursor = try sample.now()
            cluster.crash()
            let session = try PostgresSession(cluster.address("sample"))
            try session.execute("INSERT INTO tag VALUES ('second')")
            let reader = LogReader(try SyncCatalog(session))
            let batch = try reader.batch(after: cursor, in: session)
            #expect(batch.entries.map(\.address.key) == [.text("second")])
            // The text of the snapshot, without the restriction, misses the entry.
            #expect(try session.query("SELECT max(xid::text::bigint) FROM martlet.log").first?.bigint(0) ?? 0 < newest)
            let naive = try? reader.batch(after: SyncCursor(try #require(plain)), in: session)
            #expect(naive?.entries.isEmpty ?? true)
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
