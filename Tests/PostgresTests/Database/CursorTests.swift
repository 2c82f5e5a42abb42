#if Postgres
    import Foundation
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Synchronization
    import Testing

    @Suite("PostgreSQL: the cursor", .needsPostgres)
    struct CursorTests {
        private typealias Rows = [ObjectAddress: [ValuePath: SyncValue]]

        /// A reader of the log: its rows, its cursor, and the numbers of its entries, comparisons and reads.
        private struct Replica {
            var rows: Rows = [:]
            var cursor: SyncCursor
            var entries = 0
            var checks = 0
            var polls = 0

            mutating func apply(_ batch: LogBatch) {
                for entry in batch.entries {
                    // If an entry is missed or repeated, the old values of a later entry differ from the values that
                    // the reader knows.
                    #expect(rows[entry.address] == entry.old)
                    rows[entry.address] = entry.new
                }
                entries += batch.entries.count
                cursor = batch.cursor
                polls += 1
            }
        }

        @Test("while writers commit, roll back and wait, a reader gets each entry once, and has correct rows")
        func concurrentWriters() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, weight) SELECT i, 0 FROM generate_series(1, 100) i")
            var replica = Replica(cursor: SyncCursor(""))
            try DatabaseSnapshot.read(sample.catalog, in: sample.session) { snapshot in
                replica.cursor = snapshot.cursor
                try snapshot.rows(of: sample.dog) { replica.rows[$0.address] = $0.values }
            }
            let running = Atomic(6)
            let address = sample.address
            for seed in 0..<6 {
                let writer = Thread {
                    do { try Self.write(address, seed: UInt64(seed)) } catch { Issue.record(error) }
                    running.subtract(1, ordering: .sequentiallyConsistent)
                }
                writer.start()
            }
            var isLast = false
            repeat {
                isLast = running.load(ordering: .sequentiallyConsistent) == 0
                if replica.polls % 4 == 3 || isLast {
                    try compare(&replica, sample)
                } else {
                    replica.apply(try sample.changes(after: replica.cursor))
                }
            } while !isLast
            // The first snapshot contained the 100 dogs, so the reader has not read the entries of their insertion.
            #expect(replica.entries == (try sample.count("martlet.log")) - 100)
            print("cursor: \(replica.entries) entries in \(replica.polls) polls, \(replica.checks) states compared")
        }

        private func compare(_ replica: inout Replica, _ sample: SampleDatabase) throws {
            try DatabaseSnapshot.read(sample.catalog, in: sample.session) { snapshot in
                replica.apply(try sample.changes(after: replica.cursor))
                var rows: Rows = [:]
                try snapshot.rows(of: sample.dog) { rows[$0.address] = $0.values }
                #expect(rows == replica.rows)
                replica.checks += 1
            }
        }

        /// Runs 120 transactions with up to five statements each. Some statements run in savepoints, and about half of
        /// these savepoints are rolled back. Some transactions wait before the commit, and some are rolled back.
        private static func write(_ address: String, seed: UInt64) throws {
            let session = try PostgresSession(address)
            var random = SeededGenerator(state: seed)
            for _ in 0..<120 {
                do {
                    try session.transaction {
                        for _ in 0..<Int.random(in: 1...5, using: &random) {
                            let statement = statement(&random)
                            guard Int.random(in: 0..<3, using: &random) == 0 else {
                                try session.execute(statement)
                                continue
                            }
                            let isKept = Bool.random(using: &random)
                            _ = try? session.savepoint {
                                try session.execute(statement)
                                if !isKept { throw CancellationError() }
                            }
                        }
                        let wait = Int.random(in: 0..<60, using: &random)
                        if wait < 10 { try session.execute("SELECT pg_sleep(\(wait == 0 ? 0.5 : 0.01))") }
                        if wait > 50 { throw CancellationError() }
                    }
                } catch is CancellationError {
                } catch let error as PostgresError where error.isTransient || error.state == .failedTransaction {
                } catch let error as PostgresError where error.state == .uniqueViolation {}
            }
        }

        private static func statement(_ random: inout SeededGenerator) -> String {
            let id = Int.random(in: 1...130, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: return "DELETE FROM dog WHERE id = \(id)"
            case 1: return "INSERT INTO dog (id, weight) VALUES (\(id), 1) ON CONFLICT (id) DO NOTHING"
            case 2:
                return
                    "UPDATE dog SET id = \(id) WHERE id = \(id + 1) AND NOT EXISTS (SELECT FROM dog WHERE id = \(id))"
            case 3: return "UPDATE dog SET weight = weight + 1 WHERE id BETWEEN \(id) AND \(id + 5)"
            default: return "UPDATE dog SET weight = weight + 1, name = 'n\(id)' WHERE id = \(id)"
            }
        }

        @Test("a reader does not wait for an open transaction, and gets its entries after it commits")
        func longTransactions() throws {
            let sample = try SampleDatabase()
            let long = try PostgresSession(sample.address)
            try long.execute("BEGIN; INSERT INTO tag VALUES ('long')")
            var batch = try sample.changes(after: sample.now())
            try sample.session.execute("INSERT INTO tag VALUES ('short')")
            batch = try sample.changes(after: batch.cursor)
            #expect(batch.entries.map(\.address.key) == [.text("short")])
            try long.execute("COMMIT")
            batch = try sample.changes(after: batch.cursor)
            #expect(batch.entries.map(\.address.key) == [.text("long")])
            #expect(try sample.changes(after: batch.cursor).entries.isEmpty)
        }
    }

    /// The random number generator SplitMix64.
    struct SeededGenerator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
#endif
