#if Postgres
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    /// An open transaction in any database of a server prevents pruning, so these tests use a separate server.
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

        /// Moves the times of all marks back.
        private func age(_ hours: Int, _ sample: SampleDatabase) throws {
            try sample.session.execute("UPDATE martlet.marks SET at = at - interval '\(hours) hours'")
        }

        @Test("entries before the age are deleted: an older client starts again, a newer one misses nothing")
        func age() throws {
            let sample = try sample("age")
            let oldest = try sample.now()
            try insert(1...3, sample)
            let older = try sample.changes(after: oldest).cursor
            try insert(4...5, sample)
            let newer = try sample.changes(after: oldest).cursor
            try LogPruner.mark(in: sample.session)
            try age(25, sample)
            try insert(6...7, sample)
            #expect(try LogPruner().prune(.init(hours: 24), in: sample.session) == 5)
            #expect(try sample.count("martlet.log") == 2)
            for cursor in [oldest, older] {
                #expect(throws: LogReaderError.unknownCursor) { try sample.changes(after: cursor) }
            }
            #expect(try keys(after: newer, sample) == [.text("6"), .text("7")])
            // No remaining entry is old enough.
            #expect(try LogPruner().prune(.init(hours: 24), in: sample.session) == 0)
            #expect(try keys(after: newer, sample) == [.text("6"), .text("7")])
        }

        @Test("without a mark that is old enough, nothing is deleted")
        func noMark() throws {
            let sample = try sample("nomark")
            let cursor = try sample.now()
            try insert(1...3, sample)
            #expect(try LogPruner().prune(.init(hours: 24), in: sample.session) == 0)
            #expect(try keys(after: cursor, sample).count == 3)
        }

        @Test("the entries of a transaction that is open stay, and so do all later ones")
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
            // After the entries of the transaction are deleted, a cursor that lists the transaction as open is older
            // than the log.
            let later = try sample.changes(after: cursor).cursor
            try insert(5...5, sample)
            #expect(try LogPruner().prune(.init(gigabytes: 0), in: sample.session) == 4)
            #expect(throws: LogReaderError.unknownCursor) { try sample.changes(after: cursor) }
            #expect(throws: LogReaderError.unknownCursor) { try sample.changes(after: later) }
        }

        @Test("an idle client that knows all entries continues after they were deleted")
        func idleClient() throws {
            let sample = try sample("idleclient")
            let start = try sample.now()
            let other = try PostgresSession(sample.address)
            try other.execute("BEGIN; SELECT pg_current_xact_id()")
            try insert(1...3, sample)
            let cursor = try sample.changes(after: start).cursor
            try other.execute("ROLLBACK")
            // The cursor lists the other transaction as open. Reading the log again returns a cursor that does not.
            let current = try sample.changes(after: cursor)
            #expect(current.entries.isEmpty && current.cursor != cursor)
            #expect(try LogPruner().prune(.init(gigabytes: 0), in: sample.session) == 3)
            #expect(try keys(after: current.cursor, sample) == [])
            #expect(try sample.changes(after: sample.now()).entries.isEmpty)
            try insert(4...4, sample)
            #expect(try keys(after: current.cursor, sample) == [.text("4")])
        }

        @Test("the newest entries of a size are kept, and the others are deleted in batches")
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

        @Test("a running service notices that a client has become too old")
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
