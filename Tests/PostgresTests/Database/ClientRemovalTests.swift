#if Postgres
    import Foundation
    import Martlet
    import MartletPostgres
    import MartletSync
    import MartletSyncProtocol
    import MartletSyncService
    import TasksModels
    import Testing

    @MainActor
    @Suite("PostgreSQL: removal of clients", .needsPostgres, .timeLimit(.minutes(5)))
    struct ClientRemovalTests {
        private nonisolated func makeOlder(_ days: Int, _ session: PostgresSession) throws {
            try session.execute("UPDATE martlet.clients SET seen = seen - interval '\(days) days'")
        }

        private func confirm(_ client: UploadingClient, _ sample: SampleDatabase) throws -> ClientRegistry.Client {
            try ClientRegistry().client(
                client.identity, hasPosition: true, readability: [], acknowledged: client.number, in: sample.session)
        }

        @Test("unused clients are removed, except clients that have not confirmed their newest stored upload Y14")
        func unused() throws {
            let sample = try SampleDatabase()
            let clients = try (0..<4).map { _ in try UploadingClient(sample) }
            for client in clients.dropFirst() { try client.store([.create(sample.dog(1), [:])]) }
            _ = try confirm(clients[1], sample)
            _ = try confirm(clients[2], sample)
            // This upload is stored after the client has confirmed its previous upload.
            let last = clients[2].upload([])
            #expect(try clients[2].store(last) == .stored([]))
            try makeOlder(364, sample.session)
            #expect(try ClientRegistry().removeUnused(days: 365, in: sample.session) == 0)
            try makeOlder(2, sample.session)
            #expect(try ClientRegistry().removeUnused(days: 365, in: sample.session) == 2)
            #expect(try sample.client(clients[0].identity) == .unknown)
            #expect(try clients[1].store([]) == .unknownClient)
            #expect(try clients[2].store(last) == .duplicate)
            #expect(try sample.client(clients[3].identity) != .unknown)
        }

        @Test("a client that connects or uploads counts as used")
        func used() throws {
            let sample = try SampleDatabase()
            let (connecting, uploading) = (try UploadingClient(sample), try UploadingClient(sample))
            try makeOlder(400, sample.session)
            _ = try confirm(connecting, sample)
            try uploading.store([])
            _ = try sample.session.query("UPDATE martlet.clients SET confirmed = upload")
            #expect(try ClientRegistry().removeUnused(days: 365, in: sample.session) == 0)
        }

        private func suspend(_ realm: Realm) async {
            realm.syncSession?.suspend()
            while realm.syncSession?.connectionState != .disconnected { await Task.yield() }
        }

        @Test("a removed client that connects again is registered again, and each of its writes is stored once Y12 Y14")
        func returning() async throws {
            let system = try TasksSystem(newDatabase())
            defer { system.removeFiles() }
            let session = try PostgresSession(system.address)
            try session.execute("INSERT INTO board (id, name) VALUES (1, 'Home')")
            try await withService(system.database()) { url in
                let realm = try system.realm("a", user: "ada", url)
                let boards = try await realm.objects(Board.self).subscribe()
                try realm.write { boards.first?.doneCount += 1 }
                try await realm.syncSession?.wait(for: .upload)
                func removed() throws -> Int {
                    try makeOlder(400, session)
                    return try ClientRegistry().removeUnused(days: 365, in: session)
                }
                await suspend(realm)
                try realm.write { boards.first?.doneCount += 1 }
                #expect(try removed() == 0)
                realm.syncSession?.resume()
                try await realm.syncSession?.wait(for: .upload)
                await suspend(realm)
                realm.syncSession?.resume()
                while try session.query("SELECT FROM martlet.clients WHERE confirmed < upload").rowCount > 0 {
                    await Task.yield()
                }
                await suspend(realm)
                try realm.write { boards.first?.doneCount += 1 }
                #expect(try removed() == 1)
                realm.syncSession?.resume()
                try await realm.syncSession?.wait(for: .upload)
                try await realm.syncSession?.wait(for: .download)
                #expect(boards.first?.doneCount == 3)
            }
            #expect(try session.query("SELECT done_count::bigint FROM board").first?.bigint(0) == 3)
            #expect(try session.query("SELECT count(*) FROM martlet.clients").first?.bigint(0) == 1)
        }
    }
#endif
