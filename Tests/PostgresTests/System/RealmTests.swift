#if Postgres
    import Foundation
    import Martlet
    import MartletPostgres
    import MartletSync
    import MartletSyncService
    import Synchronization
    import TasksModels
    import Testing

    /// End-to-end tests of Realms with generated classes, the service and PostgreSQL. With the trait 'Sync', the
    /// clients connect through the network.
    @MainActor
    @Suite("PostgreSQL: synchronized Realms", .needsPostgres, .timeLimit(.minutes(5)))
    struct RealmTests {
        private let system: TasksSystem
        private let session: PostgresSession

        init() throws {
            system = try TasksSystem(newDatabase())
            session = try PostgresSession(system.address)
        }

        private func database() async throws -> PostgresServiceDatabase { try await system.database() }

        private func realm(
            _ file: String, user: String, _ url: URL, _ handler: (@Sendable (SyncError) -> Void)? = nil
        ) throws -> Realm {
            try system.realm(file, user: user, url) { $0.errorHandler = handler }
        }

        private func wait(_ condition: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation)
            async throws
        {
            for _ in 0..<4_000 {
                if try condition() { return }
                try await Task.sleep(for: .milliseconds(5))
            }
            Issue.record("the condition does not hold after 20 seconds", sourceLocation: sourceLocation)
        }

        @Test("clients get the changes of SQL and of other clients, and PostgreSQL gets the changes of clients")
        func endToEnd() async throws {
            try session.execute(
                """
                INSERT INTO project (id, name, owner) VALUES ('p', 'Paint', 'ada'), ('q', 'Quilt', 'ben');
                INSERT INTO task_item (id, title, priority, effort, project) VALUES (1, 'buy', 5, 'NaN', 'p')
                """)
            try await withService(database()) { url in
                let (ada, ben) = (try realm("a", user: "ada", url), try realm("b", user: "ben", url))
                let projects = try await ada.objects(Project.self).subscribe()
                let tasks = try await ada.objects(TaskItem.self).subscribe()
                // The rule 'read' hides the project of ben.
                #expect(projects.map(\.name) == ["Paint"])
                #expect(tasks.first?.project?.name == "Paint" && tasks.first?.effort?.isNaN == true)

                let seen = try await ben.objects(TaskItem.self).where { $0.priority > 3 }.subscribe()
                try ada.write {
                    let first = tasks.first
                    ada.add(
                        TaskItem(
                            id: 2, title: "paint", priority: 7, due: Date(timeIntervalSince1970: 0), predecessor: first)
                    )
                }
                try await wait { seen.count == 2 }
                #expect(seen.last?.predecessor?.title == "buy" && seen.last?.due == Date(timeIntervalSince1970: 0))
                try await ada.syncSession?.wait(for: .upload)
                try session.execute(
                    "UPDATE task_item SET priority = 1 WHERE id = 1; DELETE FROM project WHERE id = 'p'")
                // The foreign key deletes task 1 together with its project.
                try await wait { tasks.map(\.id) == [2] && projects.isEmpty }
                try await wait { seen.map(\.id) == [2] }
            }
        }

        @Test("a client that misses more changes than the service keeps in memory loads its data again Y14")
        func tooManyChanges() async throws {
            try session.execute(
                "INSERT INTO task_item (id, title) SELECT i, 'old ' || i FROM generate_series(1, 300) i")
            var limits = MemoryLimits()
            (limits.feedBytes, limits.clientBytes) = (2_000, 20_000)
            try await withService(system.database(limits: limits)) { url in
                let realm = try realm("a", user: "ada", url)
                let tasks = try await realm.objects(TaskItem.self).subscribe()
                #expect(tasks.count == 300)
                // These changes are larger than `feedBytes`, so the service does not keep them in memory. The session
                // of this client reads the log itself.
                try session.execute("UPDATE task_item SET title = 'middle' WHERE id <= 20")
                try await wait { tasks.where { $0.title == "middle" }.count == 20 }
                realm.syncSession?.suspend()
                try realm.write { tasks.first?.priority = 9 }
                // These changes are larger than `clientBytes`, so the client loads its data again.
                try session.execute("UPDATE task_item SET title = 'new'; DELETE FROM task_item WHERE id > 250")
                realm.syncSession?.resume()
                try await wait { tasks.where { $0.title == "new" }.count == 250 && tasks.count == 250 }
                try await realm.syncSession?.wait(for: .upload)
                #expect(tasks.first?.priority == 9)
            }
            #expect(try session.query("SELECT priority::bigint FROM task_item WHERE id = 1").first?.bigint(0) == 9)
        }

        @Test("a change that the rules do not permit is reverted, and the program gets the reason")
        func refused() async throws {
            let errors = Mutex<[SyncError]>([])
            try session.execute("INSERT INTO project (id, name, owner, is_public) VALUES ('p', 'Paint', 'ben', true)")
            try await withService(database()) { url in
                let ada = try realm("a", user: "ada", url) { error in errors.withLock { $0.append(error) } }
                let projects = try await ada.objects(Project.self).subscribe()
                try ada.write {
                    projects.first?.name = "Stolen"
                    ada.add(Project(id: "mine", name: "Mine", owner: "ada"))
                }
                try await ada.syncSession?.wait(for: .upload)
                try await wait { errors.withLock { $0.contains { $0.code == .writesReverted } } }
                ada.refresh()
                #expect(Set(projects.map(\.name)) == ["Paint", "Mine"])
            }
            let info = errors.withLock { $0 }.flatMap(\.compensatingWriteInfo)
            #expect(info.map(\.objectType) == ["Project"])
            #expect(try session.query("SELECT count(*) FROM project").first?.bigint(0) == 2)
        }

        @Test("a write of several megabytes is one upload, and reaches other clients Y25")
        func largeWrite() async throws {
            try await withService(database()) { url in
                let (ada, ben) = (try realm("a", user: "ada", url), try realm("b", user: "ben", url))
                let seen = try await ben.objects(TaskItem.self).subscribe()
                _ = try await ada.objects(TaskItem.self).subscribe()
                let padding = String(repeating: "x", count: 1_000)
                try ada.write { for id in 1...3_000 { ada.add(TaskItem(id: id, title: "\(id) \(padding)")) } }
                try await ada.syncSession?.wait(for: .upload, timeout: 300)
                try await wait { seen.count == 3_000 }
            }
            #expect(try session.query("SELECT count(*) FROM task_item").first?.bigint(0) == 3_000)
            #expect(try session.query("SELECT max(upload) FROM martlet.clients").first?.bigint(0) == 1)
        }

        @Test("collections of generated classes are synchronized in both directions Y21 Y22 Y23 Y24")
        func collections() async throws {
            try session.execute(
                """
                INSERT INTO task_item (id, title) SELECT n, 'task ' || n FROM generate_series(1, 5) n;
                INSERT INTO board (id, name) VALUES (1, 'Home');
                INSERT INTO board_tasks (owner, value) VALUES (1, 2), (1, 1);
                INSERT INTO board_labels VALUES (1, 'urgent');
                INSERT INTO board_notes VALUES (1, 'ada', 'first')
                """)
            try await withService(database()) { url in
                let (ada, ben) = (try realm("a", user: "ada", url), try realm("b", user: "ben", url))
                for realm in [ada, ben] {
                    _ = try await realm.objects(TaskItem.self).subscribe()
                    _ = try await realm.objects(Board.self).subscribe()
                }
                let mine = try #require(ada.object(ofType: Board.self, forPrimaryKey: 1))
                let other = try #require(ben.object(ofType: Board.self, forPrimaryKey: 1))
                #expect(mine.tasks.map(\.id) == [2, 1] && mine.labels.contains("urgent"))
                #expect(mine.notes["ada"] == "first")
                var changes: [(deletions: [Int], insertions: [Int])] = []
                var isObserved = false
                let token = other.tasks.observe { change in
                    isObserved = true
                    guard case .update(_, let deletions, let insertions, _) = change else { return }
                    changes.append((deletions, insertions))
                }
                // A change that arrives before the first call is part of the first call.
                try await wait { isObserved }
                try ada.write {
                    mine.tasks.insert(try #require(ada.object(ofType: TaskItem.self, forPrimaryKey: 3)), at: 1)
                    mine.tasks.remove(at: 0)
                    mine.labels.insert("garden")
                    mine.notes["ada"] = "second"
                    mine.doneCount += 1
                }
                try await wait { other.tasks.map(\.id) == [3, 1] && !changes.isEmpty }
                #expect(changes.map(\.deletions) == [[0]] && changes.map(\.insertions) == [[0]])
                #expect(Set(other.labels) == ["urgent", "garden"] && other.notes["ada"] == "second")
                #expect(other.doneCount == 1)
                token.invalidate()
                // SQL deletes one task, and appends another task to the list.
                try session.execute(
                    "DELETE FROM task_item WHERE id = 3; INSERT INTO board_tasks (owner, value) VALUES (1, 5)")
                try await wait { mine.tasks.map(\.id) == [1, 5] && other.tasks.map(\.id) == [1, 5] }
                try ben.write { ben.delete(other) }
                try await wait { mine.isInvalidated }
            }
            #expect(try session.query("SELECT count(*) FROM board_tasks").first?.bigint(0) == 0)
        }

        @Test("clients and SQL change embedded objects in a list, and observers see the changed elements Y27 Y28")
        func embeddedElements() async throws {
            try session.execute(
                """
                INSERT INTO board (id, name) VALUES (1, 'Home');
                INSERT INTO board_steps (owner, value) VALUES
                    (1, '{"text": "wash", "isDone": false, "helpers": ["eve"]}'), (1, '{"text": "dig", "isDone": false}')
                """)
            try await withService(database()) { url in
                let (ada, ben) = (try realm("a", user: "ada", url), try realm("b", user: "ben", url))
                for realm in [ada, ben] { _ = try await realm.objects(Board.self).subscribe() }
                let mine = try #require(ada.object(ofType: Board.self, forPrimaryKey: 1)?.steps)
                let other = try #require(ben.object(ofType: Board.self, forPrimaryKey: 1)?.steps)
                #expect(mine.map(\.text) == ["wash", "dig"] && mine.map(\.helpers.count) == [1, 0])
                var changes: [[Int]] = []
                var isObserved = false
                let token = other.observe { change in
                    isObserved = true
                    guard case .update(_, let deletions, let insertions, let modifications) = change else { return }
                    changes += [deletions, insertions, modifications]
                }
                // A change that arrives before the first call is part of the first call.
                try await wait { isObserved }
                let second = other[1]
                try ada.write {
                    mine[1].helpers.append("ada")
                    mine[1].isDone = true
                }
                try await wait { other[1].isDone && changes.count >= 3 }
                #expect(changes == [[], [], [1]])
                #expect(second.helpers.map { $0 } == ["ada"])
                try ada.write {
                    mine.remove(at: 0)
                    mine.append(Step(text: "paint", helpers: ["eve", "ben"]))
                }
                try await wait { other.count == 2 && other[1].text == "paint" && changes.count >= 6 }
                #expect(changes.dropFirst(3) == [[0], [1], []])
                #expect(second.text == "dig")
                token.invalidate()
                try session.execute(
                    "UPDATE board_steps SET value = jsonb_set(value, '{helpers, 0}', '\"SQL\"') WHERE value ->> 'text' = 'dig'"
                )
                try await wait { mine[0].helpers.first == "SQL" && second.helpers.first == "SQL" }
            }
            let stored = try session.query("SELECT value ->> 'helpers' FROM board_steps ORDER BY position").rows
            #expect(try stored.map { try $0.text(0) } == [#"["SQL"]"#, #"["eve", "ben"]"#])
        }

        @Test("an object that several writes have made larger than one message reaches other clients Y25")
        func largeObject() async throws {
            try session.execute("INSERT INTO board (id) VALUES (1)")
            try await withService(database()) { url in
                let (ada, ben) = (try realm("a", user: "ada", url), try realm("b", user: "ben", url))
                for realm in [ada, ben] { _ = try await realm.objects(Board.self).subscribe() }
                let text = String(repeating: "x", count: 600_000)
                for step in 0..<3 {
                    try ada.write {
                        let board = ada.object(ofType: Board.self, forPrimaryKey: 1)
                        if step == 0 { board?.name = text } else { board?.notes["\(step)"] = text }
                    }
                    try await ada.syncSession?.wait(for: .upload, timeout: 300)
                }
                try await wait {
                    let board = ben.object(ofType: Board.self, forPrimaryKey: 1)
                    return board?.name == text && board?.notes.count == 2
                }
            }
        }

        @Test("objects that a client writes before its first connection are uploaded Y12")
        func writesBeforeFirstConnection() async throws {
            var port = 0
            try await withService(database()) { url in port = try #require(url.port) }
            let url = try #require(URL(string: "ws://127.0.0.1:\(port)"))
            let ada = try realm("a", user: "ada", url)
            try session.execute("INSERT INTO task_item (id, title) VALUES (2, 'SQL')")
            try ada.write { for id in 1...2 { ada.add(TaskItem(id: id, title: "offline", priority: 1)) } }
            try await withService(database(), port: port) { _ in
                ada.syncSession?.reconnect()
                _ = try await ada.objects(TaskItem.self).subscribe(waitForSync: .always, timeout: 300)
                try await ada.syncSession?.wait(for: .upload, timeout: 300)
                try await ada.syncSession?.wait(for: .download, timeout: 300)
                ada.refresh()
                #expect(ada.objects(TaskItem.self).map(\.title) == ["offline", "offline"])
            }
            #expect(try session.query("SELECT count(*) FROM task_item WHERE priority = 1").first?.bigint(0) == 2)
        }

        @Test("a client can write while the service is stopped, and synchronizes when the service runs again")
        func stoppedService() async throws {
            var port = 0
            var client: Realm?
            try await withService(database()) { url in
                port = try #require(url.port)
                client = try realm("a", user: "ada", url)
                _ = try await client?.objects(TaskItem.self).subscribe()
            }
            let ada = try #require(client)
            try await wait { ada.syncSession?.connectionState != .connected }
            for id in 1...100 { try ada.write { ada.add(TaskItem(id: id, title: "offline \(id)")) } }
            try session.execute("INSERT INTO task_item (id, title) VALUES (200, 'SQL')")
            try await withService(database(), port: port) { _ in
                ada.syncSession?.reconnect()
                try await ada.syncSession?.wait(for: .upload, timeout: 300)
                try await ada.syncSession?.wait(for: .download, timeout: 300)
                ada.refresh()
                #expect(ada.objects(TaskItem.self).count == 101)
                #expect(try session.query("SELECT count(*) FROM task_item").first?.bigint(0) == 101)
            }
        }
    }
#endif
