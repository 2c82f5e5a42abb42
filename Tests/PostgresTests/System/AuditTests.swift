#if Postgres
    import Foundation
    import Martlet
    import MartletEngine
    import MartletPostgres
    import MartletSync
    import MartletSyncProtocol
    import MartletSyncService
    import TasksModels
    import Testing

    @MainActor
    @Suite("PostgreSQL: audits", .needsPostgres, .timeLimit(.minutes(5)))
    struct AuditTests {
        /// Runs an audit until all connected clients were compared.
        private func audit(_ session: PostgresSession) async throws -> AuditRegistry.Summary {
            let registry = AuditRegistry()
            let audit = try registry.begin(seconds: 60, in: session)
            for _ in 0..<2_000 {
                try await Task.sleep(for: .milliseconds(10))
                let summary = try registry.summary(of: audit, in: session)
                if summary.clients > 0, summary.waiting == 0 { break }
            }
            // Another client may have connected after the first clients were compared.
            try await Task.sleep(for: .milliseconds(200))
            let summary = try registry.summary(of: audit, in: session)
            try registry.end(audit, in: session)
            return summary
        }

        // Changes rows and deletes the log entries of the changes, so the service sends the changes to no client.
        private func changeSilently(_ statement: String, _ session: PostgresSession) throws {
            try session.execute(
                "BEGIN; \(statement); DELETE FROM martlet.log WHERE xid = pg_current_xact_id(); COMMIT")
        }

        @Test(
            "an audit finds no difference after writes of clients and SQL, and repairs clients that missed a change Y30"
        )
        func wholeSystem() async throws {
            let system = try TasksSystem(newDatabase())
            let session = try PostgresSession(system.address)
            try session.execute(
                """
                INSERT INTO project (id, name, owner) VALUES ('p', 'Paint', 'ada'), ('q', 'Quilt', 'ben');
                INSERT INTO task_item (id, title, effort, due, project)
                    SELECT n, 'task ' || n, '-0', '2026-01-01 00:00:00.000001Z', (ARRAY['p', 'q'])[1 + n % 2]
                    FROM generate_series(1, 200) n;
                INSERT INTO board (id, name) VALUES (1, 'Home');
                INSERT INTO board_tasks (owner, value) VALUES (1, 2), (1, 1);
                INSERT INTO board_labels VALUES (1, 'urgent'), (1, 'garden');
                INSERT INTO board_notes VALUES (1, 'ada', 'first'), (1, 'ben', '');
                INSERT INTO board_steps (owner, value) VALUES
                    (1, '{"text": "wash", "isDone": false, "helpers": ["eve"]}'), (1, '{"text": "dig"}')
                """)
            let database = try await system.database()
            try await withService(database) { url in
                let (ada, ben) = (
                    try system.realm("a", user: "ada", url), try system.realm("b", user: "ben", url)
                )
                for realm in [ada, ben] {
                    _ = try await realm.objects(Project.self).subscribe()
                    // The tasks have links to projects that the user cannot read.
                    _ = try await realm.objects(TaskItem.self).where { $0.id <= 150 }.subscribe()
                    _ = try await realm.objects(Board.self).subscribe()
                }
                try ada.write {
                    ada.add(
                        TaskItem(
                            id: 100, title: "é\u{1F600}", effort: .nan, due: Date(timeIntervalSinceNow: 0.123_456_789)),
                        update: .modified)
                    let board = ada.object(ofType: Board.self, forPrimaryKey: 1)
                    if let task = ada.object(ofType: TaskItem.self, forPrimaryKey: 7) { board?.tasks.append(task) }
                    board?.labels.remove("urgent")
                    board?.notes["eve"] = "third"
                    board?.doneCount += 2
                    board?.steps.first?.helpers.append("ada")
                }
                try await ada.syncSession?.wait(for: .upload)
                let correct = try await audit(session)
                #expect(correct.compared == 2 && correct.different == 0 && correct.rows > 300, "\(correct)")

                try changeSilently(
                    """
                    UPDATE task_item SET title = 'silent' WHERE id = 5; DELETE FROM task_item WHERE id = 6;
                    INSERT INTO board_labels VALUES (1, 'silent')
                    """, session)
                let different = try await audit(session)
                #expect(
                    different.compared == 2 && different.different == 2 && different.repaired == 2, "\(different)")
                for realm in [ada, ben] {
                    realm.refresh()
                    #expect(realm.object(ofType: TaskItem.self, forPrimaryKey: 5)?.title == "silent")
                    #expect(realm.object(ofType: TaskItem.self, forPrimaryKey: 6) == nil)
                    #expect(realm.object(ofType: Board.self, forPrimaryKey: 1)?.labels.contains("silent") == true)
                    #expect(realm.objects(TaskItem.self).count == 149)
                }
                let repaired = try await audit(session)
                #expect(repaired.compared == 2 && repaired.different == 0, "\(repaired)")
            }
            #expect(database.metrics.count(.clientsAudited) == 8)
            #expect(database.metrics.count(.auditDifferences) >= 4)
        }

        @Test("the checksums of a file equal those of its rows in PostgreSQL, for all types of properties")
        func allTypes() async throws {
            let sample = try SampleDatabase()
            try sample.session.execute(
                """
                INSERT INTO person (id, name) VALUES (1, 'Ada'), (2, 'Ben');
                INSERT INTO tag (name, note) VALUES ('é', NULL), ('e\u{301}', 'x');
                INSERT INTO dog (id, name, age, weight, born, price, code, token, photo, size, owner, home, anything, walks)
                VALUES
                (1, 'Rex', 3, 'NaN', '2001-01-01 00:00:00.1Z', 1.50, '\\x000102030405060708090a0b',
                    '00000000-0000-4000-8000-000000000001', '\\x00ff', 'small', 1,
                    '{"city": "Oslo", "zip": null, "yard": {"size": 3, "trees": 0.1}}', '{"$numberDecimal": "2.50"}', 5),
                (2, '', -128, '-0', NULL, NULL, NULL, NULL, '', 'large', NULL, NULL, 'null', 0),
                (3, 'x', 127, 'Infinity', '0300-02-01Z', 'NaN', NULL, NULL, NULL, 'small', 2,
                    '{"city": "", "zip": "", "yard": null}', '[1, 1.5, "a", null, [true, {"a": {"$oid": "000102030405060708090a0b"}}]]',
                    -1),
                (4, 'y', 0, 1e-300, '4000-01-01Z', 1e30, NULL, NULL, NULL, 'small', 2, NULL, '"text"', 0),
                (5, 'z', 0, 1, NULL, -0.000001, NULL, NULL, NULL, 'small', NULL, NULL, '{"a": 1, "b": [2.25]}', 0);
                INSERT INTO pack (id) VALUES (1), (2);
                INSERT INTO pack_dogs (owner, value) VALUES (1, 3), (1, 1), (1, 3)
                """)
            let database = try await PostgresServiceDatabase(
                ConnectionPool(sample.address, count: 1), verify: { AuthenticatedUser(id: $0) }, log: { _ in })
            let queries = [sample.dog, sample.person, sample.tag, sample.pack].map {
                SubscribedQuery(type: $0, condition: SubscriptionCondition.constant(true).encoded())
            }
            // With the second set of queries, the file does not contain the persons, but contains links to them.
            for queries in [queries, queries.filter { $0.type != sample.person }] {
                let cursor = try sample.now()
                guard
                    case .changed(let batch, let data) = await database.run(
                        .change(after: cursor, from: [], to: queries), sample.context),
                    case .summed(_, let sums) = await database.run(.sum(after: cursor, for: queries), sample.context)
                else {
                    Issue.record("a task has failed")
                    return
                }
                let folder = FileManager.default.temporaryDirectory.appendingPathComponent("audit-\(UUID().uuidString)")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                defer { try? FileManager.default.removeItem(at: folder) }
                let types = sample.catalog.schema.types
                var options = StoreOptions(
                    path: folder.appendingPathComponent("a.realm").path,
                    types: types.map { type in TypeDeclaration(type, defaultRow: { TableLayout.zeroRow(type) }) })
                options.durability = .off
                let store = try SyncedStore(
                    options, synced: Set(types.filter { !$0.isEmbedded }.map(\.name)), wall: { 1_700_000_000_000 })
                var session = ClientSession(try store.load(), schemaHash: [], token: "")
                _ = session.localChange { $0.subscribe(queries) }
                let identity = ClientIdentity(id: 1, secret: [])
                let messages: [ServiceMessage] = [
                    .welcome(.init(identity: identity, epoch: "1", milliseconds: 0, storedUpload: 0)),
                    .changes(
                        .init(cursor: cursor, acknowledgedUpload: 0, rows: [], leaving: [], isLast: true)),
                    .chunk(rows: SyncRows(try await data.content().rows), leaving: [], progress: 1_000),
                    .complete(set: 1, batch.cursor),
                ]
                for message in messages {
                    for case .commit(let batch) in session.receive(message, wall: 0) {
                        try store.commit(batch, session.state)
                    }
                }
                let own = try store.sums(at: session.state)
                #expect(own?.rowCount == UInt64(queries.count == 4 ? 11 : 9))
                #expect(own.map { sums.differences(from: $0) } == [])
            }
        }
    }
#endif
