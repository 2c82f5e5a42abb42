#if Postgres
    import Foundation
    import Martlet
    import MartletPostgres
    import MartletSync
    import MartletSyncService
    import ModelTesting
    import TasksModels
    import Testing

    /// Tests crashes of clients, of the service and of the database.
    ///
    /// A random program consists of four rounds. In each round, a child process runs an instance of the service and
    /// three clients. The clients write at random, and SQL writes to the same tables. The process kills itself after a
    /// random time. In about half of the rounds, PostgreSQL also stops without a checkpoint, and starts again. After
    /// the rounds, the clients synchronize without crashes. Each client must then have the objects of its subscriptions
    /// with the values in PostgreSQL. PostgreSQL must have stored each addition to the counter exactly once.
    ///
    /// `MARTLET_SYNC_CRASH` is the number of programs. `MARTLET_SYNC_CRASH_SEED` is the seed of the first program.
    @MainActor
    @Suite("PostgreSQL: crashes of the whole system", .needsPostgres, .serialized)
    struct SystemCrashTests {
        @Test("clients, service and database continue after crashes, and each write is stored once Y12")
        func programs() async throws {
            let campaign = Campaign("MARTLET_SYNC_CRASH", count: 1)
            let cluster = try PostgresCluster()
            var totals = Totals()
            for seed in campaign.seeds {
                let failures = try await run(seed, cluster, &totals)
                #expect(failures.isEmpty, "seed \(seed): \(failures.joined(separator: "\n"))")
                if !failures.isEmpty { break }
            }
            print(
                "sync crash: \(campaign.count) programs, \(totals.kills) processes killed, PostgreSQL stopped "
                    + "\(totals.stops) times, \(totals.writes) additions of clients and \(totals.statements) of SQL "
                    + "stored once")
        }

        private struct Totals {
            var kills = 0
            var stops = 0
            /// The number of additions of clients to the counter.
            var writes: Int64 = 0
            /// The number of additions of SQL to the counter.
            var statements: Int64 = 0
        }

        private func run(_ seed: UInt64, _ cluster: PostgresCluster, _ totals: inout Totals) async throws -> [String] {
            let system = try TasksSystem(cluster.database("crash_\(seed)"))
            defer { system.removeFiles() }
            try PostgresSession(system.address).execute(
                "INSERT INTO board (id, name) VALUES (1, 'Home'); CREATE TABLE addition (count bigint); "
                    + "INSERT INTO addition VALUES (0)")
            var random = SeededRandom(seed: seed)
            for round in 0..<4 {
                let lifetime = UInt32.random(in: 20...1_200, using: &random)
                let stops = Bool.random(using: &random)
                let pause = UInt64.random(in: 300...1_500, using: &random)
                let seed = random.next()
                let stopping = Task.detached {
                    guard stops else { return }
                    try await Task.sleep(for: .milliseconds(pause))
                    cluster.crash()
                }
                let result = await #expect(
                    processExitsWith: .failure, observing: [\.standardErrorContent]
                ) {
                    [system = system as TasksSystem, seed = seed as UInt64, lifetime = lifetime as UInt32] in
                    try await CrashingProcess.run(system, seed, milliseconds: lifetime)
                }
                try await stopping.value
                if let result, result.exitStatus != .signal(SIGKILL) {
                    let output = String(decoding: result.standardErrorContent, as: UTF8.self)
                    return ["round \(round): the process has ended with \(result.exitStatus): \(output.prefix(1_500))"]
                }
                totals.kills += 1
                totals.stops += stops ? 1 : 0
            }
            return try await failuresAfterCrashes(system, &totals)
        }

        // MARK: After the crashes

        private func failuresAfterCrashes(_ system: TasksSystem, _ totals: inout Totals) async throws -> [String] {
            var failures: [String] = []
            var added: Int64 = 0
            try await withService(system.database()) { url in
                let realms = try SystemClient.all.map { ($0, try $0.realm(system, url)) }
                for (_, realm) in realms { try await realm.syncSession?.wait(for: .upload, timeout: 300) }
                for (_, realm) in realms { try await realm.syncSession?.wait(for: .download, timeout: 300) }
                let session = try PostgresSession(system.address)
                for (client, realm) in realms {
                    realm.refresh()
                    added += client.additions(realm)
                    failures += try client.differences(realm, session)
                }
                let stored = try session.query("SELECT done_count FROM board").first?.bigint(0) ?? 0
                let bySQL = try session.query("SELECT count FROM addition").first?.bigint(0) ?? 0
                if stored != added + bySQL {
                    failures.append("the counter is \(stored) after \(added) additions of clients and \(bySQL) of SQL")
                }
                totals.writes += added
                totals.statements += bySQL
            }
            return failures
        }
    }

    /// A client with its file, its user and its subscription.
    @MainActor
    struct SystemClient {
        let file: String
        let user: String
        /// The query for the tasks to which the client subscribes.
        let condition: String

        static let all = [
            SystemClient(file: "a", user: "ada", condition: "TRUEPREDICATE"),
            SystemClient(file: "b", user: "ada", condition: "priority > 4"),
            SystemClient(file: "c", user: "ben", condition: "isDone == false"),
        ]

        func realm(_ system: TasksSystem, _ url: URL) throws -> Realm {
            let (condition, file) = (condition, file)
            return try system.realm(file, user: user, url) { synchronization in
                synchronization.errorHandler = { print("client \(file): \($0)") }
                synchronization.initialSubscriptions = { subscriptions in
                    subscriptions.append(QuerySubscription<TaskItem>(where: condition))
                    subscriptions.append(QuerySubscription<Board>())
                }
            }
        }

        /// How often this client has added 1 to the counter. The client stores this number in an object of a type that
        /// is not synchronized.
        func additions(_ realm: Realm) -> Int64 {
            realm.object(ofType: DeviceSetting.self, forPrimaryKey: "additions").flatMap { Int64($0.value) } ?? 0
        }

        /// Returns the differences between the file of the client and the database.
        func differences(_ realm: Realm, _ session: PostgresSession) throws -> [String] {
            let filter =
                switch condition {
                case "priority > 4": "priority > 4"
                case "isDone == false": "NOT is_done"
                default: "true"
                }
            func rows(_ sql: String) throws -> [String] { try session.query(sql).rows.map { try $0.text(0) } }
            let tasks = realm.objects(TaskItem.self).sorted(byKeyPath: "id").map {
                "\($0.id) \($0.title) \($0.isDone ? "t" : "f") \($0.priority) \($0.predecessor?.id ?? 0)"
            }
            // A link in the file is nil if its target is not in the file.
            let storedTasks = try rows(
                """
                WITH mine AS (SELECT * FROM task_item WHERE \(filter))
                SELECT concat_ws(' ', id, title, is_done, priority,
                    coalesce((SELECT id FROM mine AS other WHERE other.id = mine.predecessor), 0))
                FROM mine ORDER BY id
                """)
            var differences: [String] = []
            func compare(_ what: String, _ found: [String], _ expected: [String]) {
                if found != expected { differences.append("client \(file), \(what): \(found) instead of \(expected)") }
            }
            compare("tasks", Array(tasks), storedTasks)
            guard let board = realm.object(ofType: Board.self, forPrimaryKey: 1) else {
                return differences + ["client \(file) has no board"]
            }
            compare(
                "list", board.tasks.map { "\($0.id)" },
                try rows(
                    "SELECT id::text FROM board_tasks JOIN task_item ON id = value WHERE \(filter) ORDER BY position"))
            compare(
                "set", board.labels.sorted(), try rows("SELECT value FROM board_labels ORDER BY value COLLATE \"C\""))
            compare(
                "map", board.notes.map { "\($0.key) \($0.value)" }.sorted(),
                try rows("SELECT key || ' ' || value FROM board_notes ORDER BY 1").sorted())
            compare(
                "embedded objects", board.steps.map { "\($0.text) \($0.isDone) \(Array($0.helpers))" },
                try rows(
                    """
                    SELECT concat_ws(' ', value ->> 'text', value ->> 'isDone', value ->> 'helpers')
                    FROM board_steps ORDER BY position
                    """))
            compare("counter", ["\(board.doneCount)"], try rows("SELECT done_count::text FROM board"))
            return differences
        }
    }

    /// The work of the child process.
    @MainActor
    private struct CrashingProcess {
        let system: TasksSystem
        let realms: [Realm]
        var random: SeededRandom

        /// Runs the service and the clients until the process kills itself.
        static func run(_ system: TasksSystem, _ seed: UInt64, milliseconds: UInt32) async throws {
            let database = try await connected(system)
            try await withService(database) { url in
                let realms = try SystemClient.all.map { try $0.realm(system, url) }
                Thread.detachNewThread {
                    usleep(milliseconds * 1_000)
                    kill(getpid(), SIGKILL)
                }
                let writer = Task.detached { await SQLWriter(address: system.address, seed: seed).run() }
                defer { writer.cancel() }
                var process = CrashingProcess(system: system, realms: realms, random: SeededRandom(seed: seed &+ 1))
                while true { try await process.step() }
            }
        }

        // PostgreSQL may not run yet when the process begins. So this function tries to connect for ten seconds.
        private static func connected(_ system: TasksSystem) async throws -> PostgresServiceDatabase {
            for _ in 0..<200 {
                if let database = try? await system.database() { return database }
                try await Task.sleep(for: .milliseconds(50))
            }
            return try await system.database()
        }

        private mutating func step() async throws {
            let realm = realms[Int.random(in: 0..<realms.count, using: &random)]
            switch Int.random(in: 0..<20, using: &random) {
            case 0: realm.syncSession?.suspend()
            case 1..<4: realm.syncSession?.resume()
            case 4, 5: try await Task.sleep(for: .milliseconds(Int.random(in: 0...5, using: &random)))
            case 6: realm.refresh()
            default: try write(realm)
            }
            await Task.yield()
        }

        private mutating func write(_ realm: Realm) throws {
            let id = Int.random(in: 1...12, using: &random)
            let title = ["wash", "paint", "dig", "\u{1F600}"][Int.random(in: 0..<4, using: &random)]
            let number = Int8.random(in: 0...9, using: &random)
            let place = Int.random(in: 0..<1_000, using: &random)
            let action = Int.random(in: 0..<12, using: &random)
            try realm.write {
                let task = realm.object(ofType: TaskItem.self, forPrimaryKey: id)
                let board = realm.object(ofType: Board.self, forPrimaryKey: 1)
                switch action {
                case 0, 1:
                    realm.add(TaskItem(id: id, title: title, priority: number, predecessor: task), update: .modified)
                case 2: task?.title = title
                case 3: task?.priority = number
                case 4: task?.isDone.toggle()
                case 5: if let task { realm.delete(task) }
                case 6:
                    guard let board, let task else { return }
                    if place % 3 == 0, !board.tasks.isEmpty { board.tasks.remove(at: place % board.tasks.count) }
                    board.tasks.insert(task, at: place % (board.tasks.count + 1))
                case 7:
                    guard let board else { return }
                    if board.labels.contains(title) { board.labels.remove(title) } else { board.labels.insert(title) }
                case 8: board?.notes[title] = place % 3 == 0 ? nil : "\(number)"
                case 9:
                    guard let board else { return }
                    if board.steps.count > 3 { board.steps.remove(at: place % board.steps.count) }
                    board.steps.insert(Step(text: title, helpers: [title]), at: place % (board.steps.count + 1))
                case 10:
                    guard let board, !board.steps.isEmpty else { return }
                    let step = board.steps[place % board.steps.count]
                    if place % 2 == 0 { step.isDone.toggle() } else { step.helpers.insert(title, at: 0) }
                    if step.helpers.count > 3 { step.helpers.removeLast() }
                default:
                    guard let board else { return }
                    board.doneCount += 1
                    let setting =
                        realm.object(ofType: DeviceSetting.self, forPrimaryKey: "additions")
                        ?? realm.create(DeviceSetting.self, value: ["key": "additions", "value": "0"])
                    setting.value = "\((Int(setting.value) ?? 0) + 1)"
                }
            }
        }
    }

    /// Writes to the tables of the system with SQL, and connects again after each crash of PostgreSQL.
    private struct SQLWriter: Sendable {
        let address: String
        let seed: UInt64

        func run() async {
            var random = SeededRandom(seed: seed &+ 2)
            var session: PostgresSession?
            while !Task.isCancelled {
                do {
                    let open = try session ?? PostgresSession(address)
                    session = open
                    try open.execute(statement(&random))
                } catch {
                    session = nil
                }
                try? await Task.sleep(for: .milliseconds(Int.random(in: 0...10, using: &random)))
            }
        }

        private func statement(_ random: inout SeededRandom) -> String {
            let id = Int.random(in: 1...12, using: &random)
            let number = Int.random(in: 0...9, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                return "INSERT INTO task_item (id, title, priority) VALUES (\(id), 'SQL', \(number)) "
                    + "ON CONFLICT (id) DO UPDATE SET title = 'SQL', priority = \(number)"
            case 1: return "DELETE FROM task_item WHERE id = \(id)"
            case 2: return "UPDATE task_item SET is_done = NOT is_done, predecessor = NULL WHERE id % 5 = \(number / 2)"
            case 3:
                return "INSERT INTO board_tasks (owner, value) SELECT 1, id FROM task_item WHERE id = \(id)"
            case 4: return "DELETE FROM board_tasks WHERE value = \(id)"
            case 7:
                return "INSERT INTO board_steps (owner, value) "
                    + #"VALUES (1, '{"text": "SQL", "isDone": false, "helpers": ["x"]}')"#
            case 8: return #"UPDATE board_steps SET value = jsonb_set(value, '{helpers}', '["SQL"]')"#
            case 9: return "DELETE FROM board_steps WHERE value ->> 'text' = 'SQL'"
            case 5: return "INSERT INTO board_labels VALUES (1, 'SQL \(number)') ON CONFLICT DO NOTHING"
            default:
                return
                    "BEGIN; UPDATE board SET done_count = done_count + 1; UPDATE addition SET count = count + 1; COMMIT"
            }
        }
    }
#endif
