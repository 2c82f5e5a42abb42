#if Postgres
    import MartletPostgres
    import MartletValues
    import Testing

    @Suite("PostgreSQL: sessions", .needsPostgres)
    struct SessionTests {
        private func session(_ script: String = "CREATE TABLE t (a bigint PRIMARY KEY, b text)") throws
            -> PostgresSession
        {
            let session = try PostgresSession(newDatabase())
            try session.execute(script)
            return session
        }

        private func numbers(_ session: PostgresSession) throws -> [Int64] {
            try session.query("SELECT a FROM t ORDER BY a").rows.map { try $0.bigint(0) }
        }

        private struct Stop: Error {}

        @Test("a transaction is committed as a whole, or rolled back as a whole if its closure throws")
        func transactions() throws {
            let session = try session()
            try session.transaction { try session.execute("INSERT INTO t VALUES (1), (2)") }
            #expect(throws: Stop.self) {
                try session.transaction {
                    try session.execute("INSERT INTO t VALUES (3)")
                    throw Stop()
                }
            }
            #expect(try numbers(session) == [1, 2])
            #expect(!session.isInTransaction)
        }

        @Test("if a closure ignores the error of a statement, its transaction is rolled back and throws")
        func ignoredErrors() throws {
            let session = try session()
            let error = #expect(throws: PostgresError.self) {
                try session.transaction {
                    try session.execute("INSERT INTO t VALUES (1)")
                    _ = try? session.execute("SELECT 1 / 0")
                }
            }
            #expect(error?.state == .failedTransaction)
            #expect(try numbers(session).isEmpty)
        }

        @Test("a nested savepoint that fails rolls back only its own changes")
        func savepoints() throws {
            let session = try session()
            try session.transaction {
                try session.savepoint {
                    try session.execute("INSERT INTO t VALUES (1)")
                    _ = try? session.savepoint { try session.execute("INSERT INTO t VALUES (2); SELECT 1 / 0") }
                    try session.execute("INSERT INTO t VALUES (3)")
                }
            }
            #expect(try numbers(session) == [1, 3])
        }

        @Test("a savepoint that fails also rolls back the completed savepoints inside it")
        func endedSavepoints() throws {
            let session = try session()
            try session.transaction {
                try session.postpone("INSERT INTO t VALUES (1)", [])
                let outcome = state {
                    try session.savepoint {
                        try session.postpone("INSERT INTO t VALUES (2)", [])
                        try session.savepoint { try session.postpone("INSERT INTO t VALUES (3)", []) }
                        try session.savepoint { throw PostgresError(.raisedException, "stop") }
                    }
                }
                #expect(outcome == .raisedException)
                try session.savepoint { try session.postpone("INSERT INTO t VALUES (4)", []) }
            }
            #expect(try numbers(session) == [1, 4])
            #expect(!session.isInTransaction)
        }

        // The tests call this function inside closures. The macro '#expect(throws:)' would create closures with equal
        // symbols there.
        private func state(_ body: () throws -> Void) -> SQLState? {
            do { try body() } catch { return (error as? PostgresError)?.state }
            return nil
        }

        @Test("if a postponed statement fails, its savepoint or transaction throws the error and is rolled back")
        func postponedFailures() throws {
            let session = try session()
            func insert(_ number: Int) throws { try session.postpone("INSERT INTO t VALUES (\(number))", []) }
            try session.transaction {
                try insert(1)
                #expect(state { try session.savepoint { try insert(1) } } == .uniqueViolation)
                try session.savepoint { try insert(2) }
            }
            #expect(state { try session.transaction { try insert(2) } } == .uniqueViolation)
            #expect(!session.isInTransaction)
            #expect(try numbers(session) == [1, 2])
        }

        @Test("an error has the SQLSTATE, the table and the constraint; its description contains no values of rows")
        func errors() throws {
            let session = try session()
            try session.execute("INSERT INTO t VALUES (4711, 'secret')")
            let error = try #require(
                #expect(throws: PostgresError.self) { try session.query("INSERT INTO t VALUES (4711)") })
            #expect(error.state == .uniqueViolation)
            #expect((error.table, error.constraint) == ("t", "t_pkey"))
            #expect(!"\(error)".contains("4711"))
            #expect(error.logText.contains("4711"))
        }

        @Test("copyOut reads the rows that copyIn has stored")
        func copies() throws {
            let session = try session()
            var next: Int64 = 0
            let count = try session.copyIn("COPY t FROM STDIN (FORMAT binary)") { writer in
                writer.row([
                    try PostgresType.bigint.encode(.integer(next)), next == 1 ? nil : Array("text \(next)".utf8),
                ])
                next += 1
                return next < 20_000
            }
            #expect(count == 20_000)
            var rows: [(SQLValue, SQLValue)] = []
            try session.copyOut("COPY (SELECT * FROM t ORDER BY a) TO STDOUT (FORMAT binary)") { reader in
                rows.append(
                    (try PostgresType.bigint.decode(try reader.next()), try PostgresType.text.decode(try reader.next()))
                )
                try reader.requireEnd()
            }
            #expect(rows.count == 20_000)
            #expect(rows.indices.allSatisfy { rows[$0].0 == .integer(Int64($0)) })
            #expect((rows[1].1, rows[2].1) == (.null, .text("text 2")))
            try session.copyOut("COPY (SELECT WHERE false) TO STDOUT (FORMAT binary)") { _ in
                Issue.record("an empty result has a row")
            }
        }

        @Test("if the closure of a copy throws, nothing is stored, and the session can still be used")
        func stoppedCopies() throws {
            let session = try session()
            #expect(throws: Stop.self) {
                try session.copyOut("COPY (SELECT generate_series(1, 1000000)) TO STDOUT (FORMAT binary)") { _ in
                    throw Stop()
                }
            }
            #expect(throws: Stop.self) {
                _ = try session.copyIn("COPY t FROM STDIN (FORMAT binary)") { writer in
                    writer.row([PostgresType.bigEndian(Int64(1)), nil])
                    throw Stop()
                }
            }
            #expect(throws: PostgresError.self) { try session.copyOut("SELECT 1") { _ in } }
            #expect(try numbers(session).isEmpty)
        }

        @Test("forEachRow passes the rows to the closure one by one, and stops when the closure throws")
        func streaming() throws {
            let session = try session()
            var sum: Int64 = 0
            try session.forEachRow("SELECT generate_series(1, $1::bigint)", [.bigint(1_000)]) {
                sum += try $0.bigint(0)
            }
            #expect(sum == 500_500)
            #expect(throws: Stop.self) {
                try session.forEachRow("SELECT generate_series(1, 100000000)") { _ in throw Stop() }
            }
            #expect(throws: PostgresError.self) {
                try session.forEachRow("SELECT 1 / (3 - generate_series(1, 5))") { _ in }
            }
            #expect(try session.query("SELECT 7::bigint").first?.bigint(0) == 7)
        }

        @Test("the statements of a pipeline run in order; after a statement that fails, no further statement runs")
        func pipelines() throws {
            let session = try session()
            let insert = "INSERT INTO t VALUES ($1) RETURNING a"
            let results = try session.transaction {
                try session.pipeline([1, 2, 3].map { PostgresStatement(insert, [.bigint($0)]) })
            }
            #expect(try results.map { try $0.first?.bigint(0) } == [1, 2, 3])
            let error = #expect(throws: PostgresError.self) {
                try session.transaction {
                    _ = try session.pipeline([4, 1, 5].map { PostgresStatement(insert, [.bigint($0)]) })
                }
            }
            #expect(error?.state == .uniqueViolation)
            #expect(try numbers(session) == [1, 2, 3])
        }

        @Test("connecting to a server that cannot be reached throws a connection failure")
        func unreachable() throws {
            let error = #expect(throws: PostgresError.self) { _ = try PostgresSession("host=/nowhere dbname=x") }
            #expect(error?.state == .connectionFailure)
            #expect(error?.endsConnection == true)
        }
    }

    @Suite("PostgreSQL: asynchronous connections", .needsPostgres)
    struct ConnectionTests {
        @Test("closures run one after another, and no closure runs during another one")
        func order() async throws {
            let connection = try await PostgresConnection(newDatabase())
            try await connection.run { _ = try $0.execute("CREATE TABLE t (a bigint)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await connection.run { session in
                            try session.transaction {
                                let count = try session.query("SELECT count(*) FROM t").first?.bigint(0)
                                try session.query("INSERT INTO t VALUES ($1)", [.bigint(count)])
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let distinct = try await connection.run { session in
                try session.query("SELECT count(DISTINCT a) FROM t").first?.bigint(0)
            }
            #expect(distinct == 20)
            await connection.close()
            await #expect(throws: PostgresError.self) { try await connection.run { _ in } }
            #expect(connection.waitingCount == 0)
        }

        @Test("a cancelled task stops its statement, and the connection stays usable")
        func cancellation() async throws {
            let connection = try await PostgresConnection(newDatabase())
            let (started, continuation) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                try await connection.run { session in
                    continuation.yield()
                    // A cancellation stops the running statement. If it arrives between two statements, the session
                    // does not send the next statement.
                    while true { try session.query("SELECT pg_sleep(0.05)") }
                }
            }
            for await _ in started { break }
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
            #expect(try await connection.run { try $0.query("SELECT 7::bigint").first?.bigint(0) } == 7)
        }
    }
#endif
