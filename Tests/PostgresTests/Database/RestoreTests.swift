#if Postgres
    import Foundation
    import Martlet
    import MartletPostgres
    import MartletSync
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import TasksModels
    import Testing

    /// Tests a database after its files were replaced by an older copy. The epoch stays the same, and PostgreSQL
    /// assigns the numbers of later transactions again.
    @MainActor
    @Suite("PostgreSQL: restored files", .needsPostgres, .serialized, .timeLimit(.minutes(5)))
    struct RestoreTests {
        private func database(_ address: String) async throws -> PostgresServiceDatabase {
            try await PostgresServiceDatabase(
                ConnectionPool(address, count: 2), verify: { AuthenticatedUser(id: $0) },
                log: { print("service: \($0)") })
        }

        private func read(
            _ sample: SampleDatabase, after cursor: SyncCursor?, _ database: PostgresServiceDatabase
        ) async -> ServiceTaskResult {
            let query = SubscribedQuery(type: sample.tag, condition: SubscriptionCondition.constant(true).encoded())
            var context = sample.context
            context.client = ClientIdentity(id: 99, secret: [])
            return await database.run(.read(after: cursor, for: [query], isCurrent: true), context)
        }

        private func cursor(_ sample: SampleDatabase, _ database: PostgresServiceDatabase) async throws -> SyncCursor {
            guard case .read(let batch) = await read(sample, after: nil, database) else {
                throw PostgresError(.connectionFailure, "no cursor")
            }
            return batch.cursor
        }

        private func insert(_ names: [String], _ address: String) throws {
            let session = try PostgresSession(address)
            for name in names { try session.execute("INSERT INTO tag VALUES ('\(name)')") }
        }

        /// Expects that clients with the lost cursors load their data again, and that a client with the older cursor
        /// continues. First writes transactions, so that the database becomes newer than all cursors.
        private func check(
            _ sample: SampleDatabase, older: SyncCursor, lost: [SyncCursor], _ database: PostgresServiceDatabase
        ) async throws {
            try insert((0..<30).map { "new \($0)" }, sample.address)
            guard case .read(let batch) = await read(sample, after: older, database) else {
                Issue.record("the older cursor is refused")
                return
            }
            #expect(batch.entries.count >= 30)
            for cursor in lost {
                guard case .failed(let failure) = await read(sample, after: cursor, database) else {
                    Issue.record("the lost cursor \(cursor.text) is accepted")
                    continue
                }
                #expect(failure.action == .startAgain)
                // Without the checksum, the service cannot distinguish the lost cursor from a valid cursor.
                let plain = SyncCursor(try #require(SnapshotCursor(cursor)).snapshot)
                guard case .read = await read(sample, after: plain, database) else {
                    Issue.record("the database has not become newer than the cursor, so the test has shown nothing")
                    continue
                }
            }
        }

        @Test("after a restore of the files, the service refuses cursors of the lost history Y14")
        func lostCursors() async throws {
            let cluster = try PostgresCluster()
            let sample = try SampleDatabase(cluster)
            let address = sample.address
            let former = try await database(address)
            try insert(["a", "b"], address)
            let older = try await cursor(sample, former)
            try cluster.save()
            try insert(["c"], address)
            var lost = [try await cursor(sample, former)]
            try insert(["d", "e"], address)
            lost.append(try await cursor(sample, former))
            // This cursor is the result of reading entries. The other lost cursors are the current cursors of the
            // database.
            if case .read(let batch) = await read(sample, after: older, former) { lost.append(batch.cursor) }
            #expect(lost.count == 3)
            cluster.restore()
            try await check(sample, older: older, lost: lost, database(address))
        }

        @Test("the service also detects a lost transaction that is older than the newest restored transaction Y14")
        func olderTransaction() async throws {
            let cluster = try PostgresCluster()
            let sample = try SampleDatabase(cluster)
            let address = sample.address
            let former = try await database(address)
            let older = try await cursor(sample, former)
            let late = try PostgresSession(address)
            try late.execute("BEGIN; INSERT INTO tag VALUES ('late')")
            try insert(["newest"], address)
            try cluster.save()
            try late.execute("COMMIT")
            let lost = try await cursor(sample, former)
            cluster.restore()
            try await check(sample, older: older, lost: [lost], database(address))
        }

        @Test("after pruning and a crash, checksums stay correct, and all instances compute equal checksums Y14")
        func noFalseAlarm() async throws {
            let cluster = try PostgresCluster()
            let sample = try SampleDatabase(cluster)
            let address = sample.address
            let first = try await database(address)
            try insert(["a", "b"], address)
            var cursors = [try await cursor(sample, first)]
            try insert(["c"], address)
            cursors.append(try await cursor(sample, database(address)))
            #expect(try LogPruner().prune(.init(gigabytes: 0), in: PostgresSession(address)) == 3)
            cursors[0] = cursors[1]
            cursors.append(try await cursor(sample, database(address)))
            try insert(["d"], address)
            try LogPruner.mark(in: PostgresSession(address))
            cluster.crash()
            try insert(["e"], address)
            let last = try await database(address)
            let checksum = try #require(SnapshotCursor(try await cursor(sample, last))?.checksum)
            for cursor in cursors {
                guard case .read(let batch) = await read(sample, after: cursor, last) else {
                    Issue.record("the cursor \(cursor.text) is refused")
                    continue
                }
                #expect(batch.entries.map(\.address.key) == [.text("d"), .text("e")])
                #expect(SnapshotCursor(batch.cursor)?.checksum == checksum)
            }
        }

        @Test(
            "after a restore while the service runs, clients get the restored data and keep their changes Y14",
            arguments: [false, true])
        func runningService(hasLostUpload: Bool) async throws {
            let cluster = try PostgresCluster()
            let system = try TasksSystem(cluster.database("tasks"))
            defer { system.removeFiles() }
            try PostgresSession(system.address).execute(
                "INSERT INTO task_item (id, title, priority) VALUES (1, 'a', 1)")
            try await withService(system.database()) { url in
                let realm = try system.realm("a", user: "ada", url)
                let tasks = try await realm.objects(TaskItem.self).subscribe()
                try cluster.save()
                try PostgresSession(system.address).execute("INSERT INTO task_item (id, title) VALUES (2, 'lost')")
                if hasLostUpload {
                    try realm.write { tasks.first?.priority = 5 }
                    try await realm.syncSession?.wait(for: .upload)
                }
                try await realm.syncSession?.wait(for: .download)
                #expect(tasks.map(\.id) == [1, 2])
                realm.syncSession?.suspend()
                cluster.restore()
                let session = try PostgresSession(system.address)
                for id in 100..<130 { try session.execute("INSERT INTO task_item (id, title) VALUES (\(id), 'new')") }
                try realm.write { realm.add(TaskItem(id: 3, title: "own", priority: 7)) }
                realm.syncSession?.resume()
                try await realm.syncSession?.wait(for: .upload, timeout: 60)
                try await realm.syncSession?.wait(for: .download, timeout: 60)
                #expect(tasks.sorted(byKeyPath: "id").map(\.id) == [1, 3] + Array(100..<130))
                #expect(realm.object(ofType: TaskItem.self, forPrimaryKey: 1)?.priority == 1)
                let stored = try session.query("SELECT count(*) FROM martlet.log WHERE op = 'i' AND client IS NOT NULL")
                #expect(try stored.first?.bigint(0) == 1)
            }
        }
    }
#endif
