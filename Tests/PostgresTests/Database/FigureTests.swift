#if Postgres
    import Foundation
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import Testing

    /// Measures the costs of the triggers and the log. The measured rates of the reader and of uploads also depend on
    /// the speed of the service, so they are correct only in an optimized build.
    @Suite(
        "PostgreSQL: measurements", .needsPostgres, .serialized,
        .enabled(if: ProcessInfo.processInfo.environment["MARTLET_SYNC_FIGURES"] != nil, "only with FIGURES=1"))
    struct FigureTests {
        private func seconds(_ body: () throws -> Void) rethrows -> Double {
            let begin = ContinuousClock.now
            try body()
            return (ContinuousClock.now - begin) / .seconds(1)
        }

        private func setTrigger(_ session: PostgresSession, _ isOn: Bool) throws {
            try session.execute("ALTER TABLE dog \(isOn ? "ENABLE ALWAYS" : "DISABLE") TRIGGER \"00_martlet_log\"")
        }

        @Test("costs of the trigger and of the log")
        func costs() throws {
            let sample = try SampleDatabase(PostgresCluster(isDurable: true))
            let session = sample.session
            try setTrigger(session, false)
            try session.execute(
                "INSERT INTO dog (id, name, weight) SELECT i, 'dog ' || i, i FROM generate_series(1, 50000) i"
            )
            try session.execute("VACUUM ANALYZE")
            var report: [String] = []
            for isOn in [false, true] {
                try setTrigger(session, isOn)
                let bulk = try seconds { try session.execute("UPDATE dog SET weight = weight + 1") }
                let single = try seconds {
                    for id in 1...1_000 {
                        try session.query("UPDATE dog SET weight = weight + 1 WHERE id = $1", [.bigint(Int64(id))])
                    }
                }
                report.append(
                    "\(isOn ? "with" : "without") trigger: bulk update \(Int(bulk * 20)) µs per row, "
                        + "\(Int(1_000 / single)) transactions/s")
            }
            let size = try session.query(
                "SELECT pg_total_relation_size('martlet.log') / (SELECT count(*) FROM martlet.log)"
            ).first
            report.append("log: \(try size?.bigint(0) ?? 0) bytes per update of a row with 17 columns")
            let reader = LogReader(sample.catalog)
            let now = try sample.now()
            let idle = try seconds { for _ in 0..<500 { _ = try reader.batch(after: now, in: session) } }
            report.append("read without new entries: \(Int(idle * 2_000)) µs")
            report.append(try reading(sample, reader))
            report.append(try uploads(sample))
            print(report.map { "figures: \($0)" }.joined(separator: "\n"))
        }

        private func reading(_ sample: SampleDatabase, _ reader: LogReader) throws -> String {
            let cursor = try sample.now()
            try sample.session.execute("UPDATE dog SET weight = weight + 1")
            var count = 0
            let duration = try seconds { count = try reader.batch(after: cursor, in: sample.session).entries.count }
            return "reader: \(Int(Double(count) / duration)) entries/s"
        }

        private func uploads(_ sample: SampleDatabase) throws -> String {
            let client = try ClientRegistry().register(readability: [], in: sample.session)
            let (base, writer) = (try sample.now(), UploadWriter(sample.catalog))
            let path = try sample.path(sample.dog, "age")
            let duration = try seconds {
                for number in 1...500 {
                    let operation = SyncOperation.update(
                        sample.dog(Int64(number)), [path: .integer(Int64(number % 100))])
                    let upload = ClientMessage.Upload(
                        number: UInt64(number), base: base, time: .init(milliseconds: 1), operations: [operation])
                    _ = try writer.store(upload, of: client.id, in: sample.session)
                }
            }
            return "uploads of one property, one connection: \(Int(500 / duration)) transactions/s"
        }
    }
#endif
