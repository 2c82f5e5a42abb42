import Foundation
import Martlet
import MartletSync
import TasksModels
import Testing

@MainActor
@Suite("subscriptions", .timeLimit(.minutes(5)))
struct SubscribeTests {
    @Test("subscribe downloads the objects of the query, and observers get later changes Y1")
    func download() async throws {
        let fixture = try SyncFixture()
        try await fixture.insert(1, title: "write", priority: 5)
        try await fixture.insert(2, title: "rest", priority: 1)
        let realm = try fixture.realm()
        let urgent = try await realm.objects(TaskItem.self).where { $0.priority > 3 }.subscribe()
        #expect(urgent.map(\.id) == [1] && realm.objects(TaskItem.self).count == 1)
        #expect(realm.subscriptions.state == .complete && realm.subscriptions.count == 1)

        var isReady = false
        var insertions: [[Int]] = []
        let token = urgent.observe { change in
            if case .initial = change { isReady = true }
            if case .update(_, _, let inserted, _) = change { insertions.append(inserted) }
        }
        try await fixture.wait { isReady }
        try await fixture.insert(3, title: "call", priority: 9)
        try await fixture.insert(4, title: "sleep", priority: 0)
        try await fixture.wait { insertions == [[1]] }
        #expect(insertions == [[1]])
        #expect(urgent.last?.title == "call" && realm.objects(TaskItem.self).count == 2)
        token.invalidate()
    }

    @Test("a write reaches the service and other clients; without a connection it waits Y12")
    func upload() async throws {
        let fixture = try SyncFixture()
        let (ada, ben) = (try fixture.realm("a"), try fixture.realm("b", user: "ben"))
        let seen = try await ben.objects(TaskItem.self).subscribe()
        _ = try await ada.objects(TaskItem.self).subscribe()
        try await ada.asyncWrite { ada.add(TaskItem(id: 1, title: "write")) }
        try await ada.syncSession?.wait(for: .upload)
        #expect(try fixture.title(1) == "write")
        try await fixture.wait { seen.first?.title == "write" }

        await fixture.service.setReachable(false)
        try await fixture.wait { ada.syncSession?.connectionState == .disconnected }
        try ada.write { ada.objects(TaskItem.self).first?.title = "rewrite" }
        #expect(try fixture.title(1) == "write")
        await fixture.service.setReachable(true)
        ada.syncSession?.reconnect()
        ben.syncSession?.reconnect()
        try await ada.syncSession?.wait(for: .upload, timeout: 300)
        try await fixture.wait { seen.first?.title == "rewrite" }
    }

    @Test("the same query or name is used again; another query replaces that of the name Y2")
    func names() async throws {
        let fixture = try SyncFixture()
        let realm = try fixture.realm()
        let tasks = realm.objects(TaskItem.self)
        let adults = tasks.where { $0.priority > 1 }
        _ = try await adults.subscribe()
        _ = try await adults.subscribe()
        #expect(realm.subscriptions.count == 1)
        _ = try await adults.subscribe(name: "first")
        _ = try await adults.subscribe(name: "second")
        _ = try await adults.subscribe(name: "second")
        #expect(realm.subscriptions.map(\.name) == [nil, "first", "second"])
        let created = try #require(realm.subscriptions.first(named: "second"))
        _ = try await tasks.where { $0.priority > 7 }.subscribe(name: "second")
        let replaced = try #require(realm.subscriptions.first(named: "second"))
        #expect(realm.subscriptions.count == 3 && replaced.queryString == "priority >= 8")
        #expect(replaced.createdAt == created.createdAt && replaced.updatedAt > created.updatedAt)
        // Adds an unnamed subscription, because no unnamed subscription has this query. The named subscription with the
        // same query does not count.
        _ = try await tasks.where { $0.priority > 7 }.subscribe()
        #expect(realm.subscriptions.map(\.name) == [nil, "first", "second", nil])
        #expect(realm.subscriptions.first(ofType: TaskItem.self) { $0.priority > 7 }?.name == "second")
    }

    @Test("unsubscribe removes the subscription that the results belong to, and its objects leave the file Y5 Y6")
    func unsubscribe() async throws {
        let fixture = try SyncFixture()
        try await fixture.insert(1, title: "write", priority: 5)
        let realm = try fixture.realm()
        let query = realm.objects(TaskItem.self).where { $0.priority > 1 }
        _ = try await query.subscribe(name: "adults")
        let named = try await query.subscribe(name: "overOne")
        let unnamed = try await query.subscribe()
        named.unsubscribe()
        #expect(realm.subscriptions.map(\.name) == ["adults", nil])
        query.unsubscribe()
        #expect(realm.subscriptions.map(\.name) == ["adults"])
        // No unnamed subscription is left, so the second call has no effect.
        unnamed.unsubscribe()
        #expect(realm.subscriptions.map(\.name) == ["adults"] && query.count == 1)
        let subscriptions = realm.subscriptions
        try await subscriptions.update { subscriptions.removeAll() }
        #expect(query.isEmpty && fixture.service.rows.count == 1)
    }

    @Test("onCreation waits for a new query only, always for the present state, never does not wait Y3")
    func modes() async throws {
        let fixture = try SyncFixture()
        let realm = try fixture.realm()
        let tasks = realm.objects(TaskItem.self)
        _ = try await tasks.subscribe(waitForSync: .never)
        #expect(realm.subscriptions.count == 1)
        _ = try await tasks.subscribe(waitForSync: .always)
        #expect(realm.subscriptions.state == .complete)
        for id in 1...20 {
            try await fixture.insert(Int64(id), title: "t")
            _ = try await tasks.subscribe(waitForSync: .always)
            #expect(tasks.count == id)
        }
        await fixture.service.setReachable(false)
        // Nothing is new, so this does not wait.
        _ = try await tasks.subscribe(waitForSync: .onCreation)
    }

    @Test("a wait ends with its timeout or its task, and the subscription remains Y4")
    func timeout() async throws {
        let fixture = try SyncFixture()
        await fixture.service.setReachable(false)
        let realm = try fixture.realm()
        let tasks = realm.objects(TaskItem.self)
        await #expect { _ = try await tasks.subscribe(name: "all", timeout: 0.05) } throws: {
            ($0 as? Realm.Error)?.code == .syncTimedOut
        }
        #expect(realm.subscriptions.map(\.name) == ["all"] && realm.subscriptions.state == .pending)
        let waiting = Task { @MainActor in _ = try await realm.objects(TaskItem.self).subscribe(name: "b") }
        try await fixture.wait { realm.subscriptions.count == 2 }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await fixture.service.setReachable(true)
        realm.syncSession?.reconnect()
        try await fixture.wait { realm.subscriptions.state == .complete }
    }

    @Test("a query that cannot be subscribed to and a query that the service refuses throw errors Y7 Y8")
    func refusals() async throws {
        let fixture = try SyncFixture()
        let realm = try fixture.realm()
        let tasks = realm.objects(TaskItem.self)
        func message(_ body: () async throws -> Void) async -> String {
            do {
                try await body()
                return "no error"
            } catch {
                return (error as? Realm.Error)?.message ?? "\(error)"
            }
        }
        #expect(
            await message { _ = try await tasks.limit(3).subscribe() }.hasPrefix(
                "the query of 'TaskItem' cannot be subscribed to: a subscription cannot contain 'limit'"))
        #expect(
            await message { _ = try await realm.objects(DeviceSetting.self).subscribe() }
                == "'DeviceSetting' is not synchronized; add 'sync: both' to it in the YAML")
        #expect(realm.subscriptions.count == 0)
        _ = try await tasks.subscribe()
        fixture.service.refuseQueries(true)
        #expect(
            await message { _ = try await tasks.where { $0.priority == 1 }.subscribe() }
                == "the sync service has refused the subscriptions: the test refuses it")
        guard case .error = realm.subscriptions.state else {
            Issue.record("the state is \(realm.subscriptions.state)")
            return
        }
        // The former set stays in effect.
        try await fixture.insert(1, title: "write")
        try await fixture.wait { tasks.count == 1 }
    }

    @Test("changes of a set are one transaction, and an error in it changes nothing Y9 Y10")
    func updates() async throws {
        let fixture = try SyncFixture()
        let realm = try fixture.realm()
        let subscriptions = realm.subscriptions
        try await subscriptions.update {
            subscriptions.append(
                QuerySubscription<TaskItem>(name: "urgent") { $0.priority > 5 }, QuerySubscription<TaskItem>())
            subscriptions.append(QuerySubscription<Project>(name: "mine", where: "owner == %@", "ada"))
        }
        #expect(subscriptions.count == 3 && subscriptions.state == .complete)
        #expect(subscriptions.map(\.objectType) == ["TaskItem", "TaskItem", "Project"])
        let old = realm.subscriptions
        #expect(throws: Realm.Error.self) {
            try change(subscriptions) {
                subscriptions.removeAll()
                subscriptions.append(QuerySubscription<TaskItem>(name: "a"), QuerySubscription<TaskItem>(name: "a"))
            }
        }
        #expect(realm.subscriptions.count == 3 && subscriptions.count == 3 && old.state == .complete)
        try change(subscriptions) {
            subscriptions.first(named: "urgent")?.updateQuery(toType: TaskItem.self) { $0.priority > 7 }
            subscriptions.remove(ofType: TaskItem.self)
        }
        #expect(subscriptions.map(\.queryString) == ["priority >= 8", "owner == 'ada'"])
        #expect(old.state == .superseded && old.count == 3)
        try change(subscriptions) { subscriptions.removeAll(ofType: Project.self) }
        #expect(subscriptions.map(\.name) == ["urgent"])
        try change(subscriptions) { subscriptions.remove(named: "urgent") }
        #expect(subscriptions.count == 0)
    }

    @Test("subscriptions that do not fit into a message are refused, and the former ones stay Y7 Y9")
    func tooLarge() async throws {
        let fixture = try SyncFixture()
        let realm = try fixture.realm()
        let subscriptions = realm.subscriptions
        func add(_ numbers: ClosedRange<Int>) throws {
            try change(subscriptions) {
                for number in numbers {
                    let titles = (0..<50).map { "\(number) \($0) " + String(repeating: "x", count: 1_000) }
                    subscriptions.append(QuerySubscription<TaskItem>(name: "\(number)") { $0.title.in(titles) })
                }
            }
        }
        try add(1...10)
        #expect { try add(11...30) } throws: { ($0 as? Realm.Error)?.code == .subscriptionRefused }
        #expect(subscriptions.count == 10 && realm.subscriptions.count == 10)
        try change(subscriptions) { subscriptions.remove(named: "1") }
        #expect(realm.subscriptions.count == 9)
    }

    // Calls the method that does not wait. In an asynchronous function, Swift prefers the one that waits.
    private func change(_ subscriptions: SyncSubscriptionSet, _ block: () throws -> Void) throws {
        try subscriptions.update(block)
    }
}
