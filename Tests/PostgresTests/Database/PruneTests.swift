#if Postgres
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    /// An open transaction in any database of the server prevents pruning. Therefore these tests use a separate server.
    @Suite("PostgreSQL: pruning of the log", .needsPostgres, .serialized)
    struct PruneTests {
        private static let cluster = Result { try PostgresCluster() }

        private func sample(_ name: String) throws -> SampleDatabase {
            try SampleDatabase(Self.cluster.get(), name: name)
        }

        private func insert(_ ids: ClosedRange<Int>, _ sample: SampleDatabase) throws {
            for id in ids { try sample.session.execute("INSERT INTO tag VALUES ('\(id)', 'n')") }
        }

        private func keys(after cursor: SyncCursor, _ sample: SampleDatabase) throws -> [SQLValue] {
            try sample.changes(after: cursor).entries.map(\.address.key)
        }

        /// Makes all marks older by this number of hours.
        private func makeMarksOlder(_ hours: Int, _ sample: SampleDatabase) throws {
            try sample.session.execute("UPDATE martlet.marks SET at = at - interval '\(hours) hours'")
        }

        @Test("entries above the age limit are deleted; older cursors are refused, and newer cursors miss no entry")
        func age() throws {
            let sample = try sample("age")
            let oldest = try sample.now()
            try insert(1...3, sample)
            let older = try sample.changes(after: oldest).cursor
            try insert(4...5, sample)
            let newer = try sample.changes(after: oldest).cursor
            try LogPruner.mark(in: sample.session)
            try makeMarksOlder(25, sample)
            try insert(6...7, sample)
            #expect(try LogPruner().prune(.init(hours: 24), in: sample.session) == 5)
            #expect(try sample.count("martlet.log") == 2)
            for cursor in [oldest, older] {
                #expect(throws: LogReaderError.unknownCursor) { try sample.changes(after: cursor) }
            }
            #expect(try keys(after: newer, sample) == [.text("6"), .text("7")])
            // No remaining entry is older than 24 hours.
            #expect(try LogPruner().prune(.init(hours: 24), in: sample.session) == 0)
            #expect(try keys(after: newer, sample) == [.text("6"), .text("7")])
        }

        @Test("if no mark is older than the age limit, nothing is deleted")
        func noMark() throws {
            let sample = try sample("nomark")
            let cursor = try sample.now()
            try insert(1...3, sample)
            #expect(try LogPruner().prune(.init(hours: 24), in: sample.session) == 0)
            #expect(try keys(after: cursor, sample).count == 3)
        }

        @Test("the entries of an open transaction and of all later transactions are kept")
        func openTransaction() throws {
            let sample = try sample("opentransaction")
            let oldest = try sample.now()
            try insert(1...2, sample)
            let other = try PostgresSession(sample.address)
            try other.execute("BEGIN; INSERT INTO tag VALUES ('open', 'n')")
            try insert(3...4, sample)
            let cursor = try sample.changes(after: oldest).cursor
            #expect(try LogPruner().prune(.init(gigabytes: 0), in: sample.session) == 2)
            try other.execute("COMMIT")
            #expect(try keys(after: cursor, sample) == [.text("open")])
            #expect(throws: LogReaderError.unknownCursor) { try sample.changes(after: oldest) }
            // The next pruning deletes the entries of `other`, and the entry of tag 5. Then two cursors are too old:
            // `cursor` lists the transaction of `other` as open, and `later` does not contain tag 5.
            let later = try sample.changes(after: cursor).cursor
            try insert(5...5, sample)
            #expect(try LogPruner().prune(.init(gigabytes: 0), in: sample.session) == 4)
            #expect(throws: LogReaderError.unknownCursor) { try sample.changes(after: cursor) }
            #expect(throws: LogReaderError.unknownCursor) { try sample.changes(after: later) }
        }

        @Test("a client that has read all entries can continue after their deletion")
        func idleClient() throws {
            let sample = try sample("idleclient")
            let start = try sample.now()
            let other = try PostgresSession(sample.address)
            try other.execute("BEGIN; SELECT pg_current_xact_id()")
            try insert(1...3, sample)
            let cursor = try sample.changes(after: start).cursor
            try other.execute("ROLLBACK")
            // This cursor lists the transaction of `other` as open. The cursor of the next read does not list it.
            let current = try sample.changes(after: cursor)
            #expect(current.entries.isEmpty && current.cursor != cursor)
            #expect(try LogPruner().prune(.init(gigabytes: 0), in: sample.session) == 3)
            #expect(try keys(after: current.cursor, sample) == [])
            #expect(try sample.changes(after: sample.now()).entries.isEmpty)
            try insert(4...4, sample)
            #expect(try keys(after: current.cursor, sample) == [.text("4")])
        }

        @Test("the newest entries are kept up to the size limit, and older entries are deleted in batches")
        func size() throws {
            let sample = try sample("size")
            let start = try sample.now()
            try insert(1...100, sample)
            let row = try #require(
                try sample.session.query("SELECT avg(pg_column_size(l.*) + 100)::float8 FROM martlet.log l").first)
            guard case .real(let bytes) = try row.value(0, .doublePrecision) else {
                Issue.record("no size")
                return
            }
            let pruner = LogPruner(batchSize: 7)
            let count = try pruner.prune(.init(gigabytes: bytes * 40.5 / 1e9), in: sample.session)
            #expect((58...62).contains(count))
            #expect(try sample.count("martlet.log") == 100 - count)
            #expect(throws: LogReaderError.unknownCursor) { try sample.changes(after: start) }
        }

        @Test("a client of a running service must start again if its cursor is older than the log")
        func runningService() async throws {
            let sample = try sample("runningservice")
            let database = try await PostgresServiceDatabase(
                ConnectionPool(sample.address, count: 2), verify: { AuthenticatedUser(id: $0) }, log: { _ in })
            let cursor = try sample.now()
            try insert(1...3, sample)
            #expect(try LogPruner().prune(.init(gigabytes: 0), in: sample.session) == 3)
            guard
                case .failed(let failure) = await database.run(
                    .read(after: cursor, for: [], isCurrent: false), sample.context)
            else {
                Issue.record("the cursor is accepted")
                return
            }
            #expect(failure.action == .startAgain)
        }
    }
#endif
