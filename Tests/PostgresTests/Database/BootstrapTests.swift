#if Postgres
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    @Suite("PostgreSQL: the rows of new subscriptions", .needsPostgres)
    struct BootstrapTests {
        private func keys(
            _ sample: SampleDatabase, _ conditions: [SubscriptionCondition]?
        ) throws -> Set<SQLValue> {
            var keys: Set<SQLValue> = []
            try DatabaseSnapshot.read(sample.catalog, in: sample.session) { snapshot in
                try snapshot.rows(of: sample.dog, satisfying: conditions) { keys.insert($0.address.key) }
            }
            return keys
        }

        @Test("PostgreSQL returns only the rows that satisfy a condition, even if a condition contains SQL syntax")
        func narrowing() throws {
            let sample = try SampleDatabase()
            let names = ["Rex", "a'; DROP TABLE dog; --", #"\' OR true --"#, "E'\\n'"]
            for (number, name) in names.enumerated() {
                try sample.session.query(
                    "INSERT INTO dog (id, name) VALUES ($1, $2)", [.bigint(Int64(number)), .text(name)])
            }
            for setting in ["on", "off"] {
                try sample.session.execute("SET standard_conforming_strings = \(setting)")
                for (number, name) in names.enumerated() {
                    let condition = try sample.isIn(sample.dog, "name", .text, [.text(name)])
                    #expect(try keys(sample, [condition]) == [.integer(Int64(number))], "\(name)")
                }
                let several = try [names[0], names[2]].map { try sample.isIn(sample.dog, "name", .text, [.text($0)]) }
                #expect(try keys(sample, several) == [.integer(0), .integer(2)])
            }
            #expect(try keys(sample, []) == [])
            #expect(try keys(sample, nil).count == names.count)
        }

        @Test("if the conditions are too long for one SQL statement, all rows of the type are read")
        func longFilter() throws {
            let sample = try SampleDatabase()
            try sample.session.execute("INSERT INTO dog (id, name) VALUES (1, 'Rex')")
            let text = String(repeating: "x", count: 40_000)
            let conditions = try (0..<30).map { try sample.isIn(sample.dog, "name", .text, [.text("\($0)" + text)]) }
            #expect(try keys(sample, conditions) == [.integer(1)])
        }

        @Test("a change of the subscriptions returns the objects that the client has to add and to remove")
        func change() async throws {
            let sample = try SampleDatabase()
            try sample.session.execute(
                "INSERT INTO dog (id, name, age) SELECT g, 'Dog ' || g, g % 5 FROM generate_series(0, 19) g")
            let database = try await PostgresServiceDatabase(
                ConnectionPool(sample.address, count: 1), verify: { AuthenticatedUser(id: $0) }, log: { _ in })
            let (low, one, three) = (
                try sample.query(sample.isIn(sample.dog, "age", .integer, [.integer(0), .integer(1)])),
                try sample.query(sample.isIn(sample.dog, "age", .integer, [.integer(1)])),
                try sample.query(sample.isIn(sample.dog, "age", .integer, [.integer(3)]))
            )
            let task = ServiceTask.change(after: try sample.now(), from: [low, three], to: [one, three])
            guard case .changed(_, let data) = await database.run(task, sample.context) else {
                Issue.record("no data")
                return
            }
            // The client removes only the four dogs of age 0. It keeps the dogs of age 1, because the query `one`
            // contains them.
            let first = try await data.content()
            #expect(first.rows.isEmpty && first.leaving.count == 4)
            let back = ServiceTask.change(after: try sample.now(), from: [one], to: [one, low, three])
            guard case .changed(_, let more) = await database.run(back, sample.context) else {
                Issue.record("no data")
                return
            }
            let second = try await more.content()
            #expect(second.rows.count == 8 && second.leaving.isEmpty)
        }

        @Test("if the connection breaks while objects are read, the data stays incomplete, and the failure is counted")
        func brokenConnection() async throws {
            let sample = try SampleDatabase()
            try sample.session.execute(
                "INSERT INTO dog (id, name) SELECT g, repeat('x', 2000) FROM generate_series(1, 20000) g")
            let database = try await PostgresServiceDatabase(
                ConnectionPool(sample.address, count: 1), verify: { AuthenticatedUser(id: $0) }, log: { _ in })
            let all = ServiceTask.change(after: try sample.now(), from: [], to: [sample.query(.constant(true))])
            guard case .changed(_, let data) = await database.run(all, sample.context) else {
                Issue.record("no data")
                return
            }
            while !data.isEnded {
                try sample.session.execute(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND query LIKE 'COPY%' AND pid <> pg_backend_pid()
                    """)
                await Task.yield()
            }
            await #expect(throws: SubscriptionData.Incomplete.self) { _ = try await data.content() }
            while database.metrics.count(.tasksFailed) == 0 { await Task.yield() }
            // The next task uses a new connection.
            let first = try sample.query(sample.isIn(sample.dog, "id", .integer, [.integer(1)]))
            let one = ServiceTask.change(after: try sample.now(), from: [], to: [first])
            guard case .changed(_, let complete) = await database.run(one, sample.context) else {
                Issue.record("no data")
                return
            }
            #expect(try await complete.content().rows.map(\.address) == [sample.dog(1)])
        }
    }
#endif
