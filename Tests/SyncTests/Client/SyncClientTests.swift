import Foundation
import Martlet
import MartletEngine
import MartletSync
import MartletSyncProtocol
import MartletSyncService
import MartletValues
import Synchronization
import TasksModels
import Testing

/// The errors that a client has reported.
private final class Reports: Sendable {
    private let errors = Mutex<[SyncError]>([])

    func add(_ error: SyncError) { errors.withLock { $0.append(error) } }
    var codes: [SyncError.Code] { errors.withLock { $0.map(\.code) } }
    var all: [SyncError] { errors.withLock { $0 } }
}

@MainActor
@Suite("the client of the sync service", .timeLimit(.minutes(5)))
struct SyncClientTests {
    @Test("initialSubscriptions is called for a new file; with rerunOnOpen, it is called at each opening Y11")
    func initialSubscriptions() async throws {
        let fixture = try SyncFixture()
        let calls = Mutex(0)
        func open(_ rerun: Bool) throws -> Realm {
            let configuration = try fixture.configuration {
                $0.rerunOnOpen = rerun
                $0.initialSubscriptions = { subscriptions in
                    calls.withLock { $0 += 1 }
                    subscriptions.removeAll()
                    subscriptions.append(QuerySubscription<TaskItem>(name: "all"))
                }
            }
            return try Realm(configuration: configuration)
        }
        for (rerun, expected) in [(false, 1), (false, 1), (true, 2)] {
            do {
                let realm = try open(rerun)
                #expect(realm.subscriptions.map(\.name) == ["all"])
                #expect(calls.withLock { $0 } == expected)
            }
            try await fixture.wait { !StoreRegistry.isOpen(fixture.folder.appendingPathComponent("a.realm").path) }
        }
    }

    @Test("a file belongs to the first user who opens it Y15")
    func wrongUser() throws {
        let fixture = try SyncFixture()
        let realm = try fixture.realm(user: "ada")
        #expect { _ = try fixture.realm(user: "ben") } throws: { ($0 as? Realm.Error)?.code == .wrongUser }
        _ = realm
    }

    @Test("a synchronized file cannot be opened for writing without a syncConfiguration Y16")
    func localOpening() throws {
        let fixture = try SyncFixture()
        let realm = try fixture.realm()
        var local = try fixture.configuration()
        local.syncConfiguration = nil
        #expect { _ = try Realm(configuration: local) } throws: {
            ($0 as? Realm.Error)?.code == .incompatibleConfiguration
        }
        _ = realm
    }

    @Test("changes that the service refuses are reverted, and the handler gets the objects and the reasons Y13")
    func reverted() async throws {
        let fixture = try SyncFixture()
        let reports = Reports()
        try await fixture.insert(1, title: "write")
        fixture.service.refuse([fixture.task(1), fixture.task(2)])
        let realm = try fixture.realm { $0.errorHandler = { reports.add($0) } }
        let tasks = try await realm.objects(TaskItem.self).subscribe()
        try realm.write {
            tasks.first?.title = "rewrite"
            realm.add(TaskItem(id: 2, title: "new"))
            realm.add(TaskItem(id: 3, title: "kept"))
        }
        try await realm.syncSession?.wait(for: .upload, timeout: 300)
        try await fixture.wait { reports.codes == [.writesReverted] }
        realm.refresh()
        #expect(tasks.map(\.title) == ["write", "kept"])
        let info = try #require(reports.all.first).compensatingWriteInfo
        #expect(info.map(\.objectType) == ["TaskItem", "TaskItem"] && info.map(\.reason).first == "not permitted")
        guard case .int(let first)? = info.first?.primaryKey else {
            Issue.record("the primary key is missing")
            return
        }
        #expect(first == 1)
    }

    @Test("after the database was restored, the client loads its data again and uploads its pending changes Y14")
    func restoredDatabase() async throws {
        let fixture = try SyncFixture()
        let reports = Reports()
        for id in 1...3 { try await fixture.insert(Int64(id), title: "t\(id)") }
        let backup = fixture.service.rows.filter { $0.key != fixture.task(2) }
        let realm = try fixture.realm { $0.errorHandler = { reports.add($0) } }
        let tasks = try await realm.objects(TaskItem.self).subscribe()
        try realm.write { tasks.first?.title = "uploaded" }
        try await realm.syncSession?.wait(for: .upload, timeout: 300)
        await fixture.service.setReachable(false)
        try await fixture.wait { realm.syncSession?.connectionState == .disconnected }
        try realm.write { realm.add(TaskItem(id: 9, title: "offline")) }
        await fixture.service.restore(backup)
        realm.syncSession?.reconnect()
        try await realm.syncSession?.wait(for: .upload, timeout: 300)
        try await realm.syncSession?.wait(for: .download, timeout: 300)
        realm.refresh()
        #expect(tasks.map(\.title) == ["t1", "t3", "offline"])
        #expect(try fixture.title(9) == "offline")
        #expect(reports.codes.contains(.startsAgain))
    }

    @Test("after an audit has found differences, the client loads its data again and keeps its own changes Y30")
    func audit() async throws {
        let fixture = try SyncFixture()
        let reports = Reports()
        for id in 1...3 { try await fixture.insert(Int64(id), title: "t\(id)") }
        let realm = try fixture.realm { $0.errorHandler = { reports.add($0) } }
        let tasks = try await realm.objects(TaskItem.self).subscribe()
        try realm.write { tasks.last?.title = "own" }
        try await realm.syncSession?.wait(for: .upload, timeout: 300)
        await fixture.service.audit()
        try await fixture.wait { fixture.service.audits.count == 1 }
        #expect(fixture.service.audits == [AuditResult(audit: 1, rowCount: 3, differences: [])])
        fixture.service.changeSilently(fixture.task(2), try fixture.path("title"), .scalar(.text("silent")))
        await fixture.service.audit()
        try realm.write { tasks.first?.title = "pending" }
        try await fixture.wait {
            reports.codes.contains(.startsAgain) || fixture.service.audits.last?.differences == nil
        }
        if fixture.service.audits.last?.differences == nil {
            // The write was in the outbox when the service asked for the checksums.
            try await realm.syncSession?.wait(for: .upload, timeout: 300)
            await fixture.service.audit()
        }
        try await fixture.wait {
            realm.refresh()
            return tasks.map(\.title) == ["pending", "silent", "own"]
        }
        try await realm.syncSession?.wait(for: .upload, timeout: 300)
        #expect(try fixture.title(1) == "pending" && reports.codes.contains(.startsAgain))
    }

    @Test("an expired token is reported, and the client asks the program for another token Y18")
    func token() async throws {
        let fixture = try SyncFixture()
        let reports = Reports()
        let calls = Mutex(0)
        let realm = try fixture.realm {
            $0.errorHandler = { reports.add($0) }
            $0.user = SyncUser(id: "ada") {
                calls.withLock { calls in
                    calls += 1
                    return calls == 1 ? "expired" : "ada"
                }
            }
        }
        try await fixture.wait { reports.codes.contains(.notAuthenticated) }
        realm.syncSession?.reconnect()
        _ = try await realm.objects(TaskItem.self).subscribe(timeout: 300)
    }

    @Test("if the lock file cannot be opened, the client reports an error and waits before each new attempt Y18")
    func lockFile() async throws {
        let fixture = try SyncFixture()
        let reports = Reports()
        let lockFile = fixture.folder.appendingPathComponent("a.realm.sync.lock")
        // A folder cannot be opened as a lock file.
        try FileManager.default.createDirectory(at: lockFile, withIntermediateDirectories: true)
        let start = ContinuousClock.now
        let realm = try fixture.realm { $0.errorHandler = { reports.add($0) } }
        try await fixture.wait { reports.codes.count >= 2 }
        #expect(ContinuousClock.now - start >= .milliseconds(500), "the first delay is at least half a second")
        #expect(reports.codes.allSatisfy { $0 == .fileFailed } && reports.all[0].message.contains("lock file"))
        #expect(fixture.service.connections == 0)
        try FileManager.default.removeItem(at: lockFile)
        realm.syncSession?.reconnect()
        _ = try await realm.objects(TaskItem.self).subscribe(timeout: 300)
    }

    @Test("a client uploads 300 offline writes in order, and shows the newest value afterwards Y12")
    func longOffline() async throws {
        let fixture = try SyncFixture()
        let realm = try fixture.realm()
        _ = try await realm.objects(TaskItem.self).subscribe()
        try realm.write { realm.add(TaskItem(id: 1, title: "0")) }
        try await realm.syncSession?.wait(for: .upload, timeout: 300)
        await fixture.service.setReachable(false)
        try await fixture.wait { realm.syncSession?.connectionState == .disconnected }
        let tasks = realm.objects(TaskItem.self)
        for number in 1...300 { try realm.write { tasks.first?.title = "\(number)" } }
        await fixture.service.setReachable(true)
        realm.syncSession?.reconnect()
        try await realm.syncSession?.wait(for: .upload, timeout: 300)
        realm.refresh()
        #expect(try fixture.title(1) == "300" && tasks.first?.title == "300")
        #expect(fixture.service.uploads == [301])
    }

    @Test("a suspended session sends nothing until it is resumed Y19 Y20")
    func suspended() async throws {
        let fixture = try SyncFixture()
        let realm = try fixture.realm()
        let session = try #require(realm.syncSession)
        _ = try await realm.objects(TaskItem.self).subscribe()
        session.suspend()
        try await fixture.wait { session.connectionState == .disconnected }
        #expect(session.state == .inactive)
        try realm.write { realm.add(TaskItem(id: 1, title: "write")) }
        await #expect { try await session.wait(for: .upload, timeout: 0.05) } throws: {
            ($0 as? Realm.Error)?.code == .syncTimedOut
        }
        session.resume()
        try await session.wait(for: .upload, timeout: 300)
        #expect(try fixture.title(1) == "write" && session.state == .active)
    }

    @Test("a session that is suspended and resumed many times still synchronizes Y19")
    func suspendedOften() async throws {
        let fixture = try SyncFixture()
        let realm = try fixture.realm()
        let session = try #require(realm.syncSession)
        for number in 1...50 {
            session.suspend()
            if number.isMultiple(of: 3) { try await Task.sleep(for: .milliseconds(number % 7)) }
            session.resume()
            if number.isMultiple(of: 5) { try await Task.sleep(for: .milliseconds(number % 11)) }
        }
        _ = try await realm.objects(TaskItem.self).subscribe(timeout: 300)
    }

    @Test("a request to reconnect is not lost if the client has not begun to wait yet Y18")
    func earlyReconnect() async throws {
        struct NoToken: Error {}
        let fixture = try SyncFixture()
        let session = Mutex<SyncSession?>(nil)
        let calls = Mutex(0)
        let realm = try fixture.realm {
            $0.user = SyncUser(id: "ada") {
                // The connection is still being prepared. The client would wait for at least half a second after each
                // failure.
                session.withLock { $0 }?.reconnect()
                let number = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if number < 40 { throw NoToken() }
                return "ada"
            }
        }
        session.withLock { $0 = realm.syncSession }
        try await fixture.wait { calls.withLock { $0 } >= 40 }
        _ = try await realm.objects(TaskItem.self).subscribe(timeout: 300)
        session.withLock { $0 = nil }
    }

    @Test("when the last Realm is released, the file is closed and can be deleted Y17")
    func closing() async throws {
        let fixture = try SyncFixture()
        for _ in 1...10 {
            do {
                let realm = try await Realm(configuration: fixture.configuration())
                _ = try await realm.objects(TaskItem.self).subscribe()
            }
            #expect(try Realm.deleteFiles(for: fixture.configuration()))
        }
    }

    @Test("when the file is closed, calls that are waiting for the service return Y17")
    func waitingWhileClosing() async throws {
        let fixture = try SyncFixture()
        await fixture.service.setReachable(false)
        var realm: Realm? = try await Realm(configuration: fixture.configuration())
        let session = try #require(realm?.syncSession)
        try realm?.write { realm?.add(TaskItem(id: 1, title: "write")) }
        let waiting = [
            Task { try await session.wait(for: .upload) }, Task { try await session.wait(for: .download) },
            Task { for await _ in session.connectionStates {} }, Task { for await _ in session.downloadProgress {} },
        ]
        try await Task.sleep(for: .milliseconds(50))
        realm = nil
        for task in waiting { try await task.value }
        for await _ in session.connectionStates {}
    }

    @Test("a file can be closed during synchronization, and then be deleted Y17")
    func closingWhileBusy() async throws {
        let fixture = try SyncFixture()
        for round in 1...30 {
            do {
                let realm = try await Realm(configuration: fixture.configuration())
                _ = try await realm.objects(TaskItem.self).subscribe()
                try realm.write { realm.add(TaskItem(id: round, title: "write")) }
                for id in 1...20 { try await fixture.insert(Int64(100 * round + id), title: "downloaded") }
                try await Task.sleep(for: .microseconds(round.isMultiple(of: 2) ? 0 : 100 * round))
            }
            #expect(try Realm.deleteFiles(for: fixture.configuration()))
        }
    }
}
