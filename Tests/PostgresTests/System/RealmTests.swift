#if Postgres
    import Foundation
    import Martlet
    import MartletPostgres
    import MartletSync
    import MartletSyncService
    import Synchronization
    import TasksModels
    import Testing

    /// End-to-end tests of Realms with generated classes, the service and PostgreSQL; with the trait 'Sync', also of
    /// the network.
    @MainActor
    @Suite("PostgreSQL: synchronized Realms", .needsPostgres, .timeLimit(.minutes(2)))
    struct RealmTests {
        private let session: PostgresSession
        private let serviceAddress: String
        private let folder: URL

        init() throws {
            let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../../Schemas/Tasks/Tasks.yaml")
            let sample = try SampleSchema(String(contentsOf: path, encoding: .utf8))
            let address = try newDatabase()
            session = try PostgresSession(address)
            try session.execute(sample.statements)
            try Deployment(MartletSyncService.SyncSchema(facts: sample.facts)).run(in: session)
            serviceAddress = try ServiceRole(session).address(address)
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("realms-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        private func database() async throws -> PostgresServiceDatabase {
            try await PostgresServiceDatabase(
                ConnectionPool(serviceAddress, count: 3),
                verify: { AuthenticatedUser(id: $0, claims: #"{"sub":"\#($0)"}"#) }, log: { print("service: \($0)") })
        }

        private func realm(
            _ file: String, user: String, _ url: URL, _ handler: (@Sendable (SyncError) -> Void)? = nil
        ) throws -> Realm {
            var configuration = Realm.Configuration(
                fileURL: folder.appendingPathComponent("\(file).realm"),
                objectTypes: [Project.self, TaskItem.self, DeviceSetting.self])
            var synchronization = SyncConfiguration(
                service: url, user: SyncUser(id: user) { user }, transport: clientTransport)
            synchronization.errorHandler = handler
            configuration.syncConfiguration = synchronization
            return try Realm(configuration: configuration)
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

        @Test("objects of SQL and of other clients reach observers, and writes reach PostgreSQL")
        func wholeWay() async throws {
            try session.execute(
                """
                INSERT INTO project (id, name, owner) VALUES ('p', 'Paint', 'ada'), ('q', 'Quilt', 'ben');
                INSERT INTO task_item (id, title, priority, effort, project) VALUES (1, 'buy', 5, 'NaN', 'p')
                """)
            try await withService(database()) { url in
                let (ada, ben) = (try realm("a", user: "ada", url), try realm("b", user: "ben", url))
                let projects = try await ada.objects(Project.self).subscribe()
                let tasks = try await ada.objects(TaskItem.self).subscribe()
                // The rule 'read' hides the project of the other user.
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
                try await ada.syncSession?.wait(for: .upload, timeout: 60)
                try await wait { seen.count == 3_000 }
            }
            #expect(try session.query("SELECT count(*) FROM task_item").first?.bigint(0) == 3_000)
            #expect(try session.query("SELECT max(upload) FROM martlet.clients").first?.bigint(0) == 1)
        }

        @Test("a client writes while the service is stopped, and continues when it runs again")
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
                try await ada.syncSession?.wait(for: .upload, timeout: 60)
                try await ada.syncSession?.wait(for: .download, timeout: 60)
                ada.refresh()
                #expect(ada.objects(TaskItem.self).count == 101)
                #expect(try session.query("SELECT count(*) FROM task_item").first?.bigint(0) == 101)
            }
        }
    }
#endif
