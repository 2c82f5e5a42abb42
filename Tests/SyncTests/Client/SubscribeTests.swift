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

    @Test("a write reaches the service and other clients; without a connection, the write is uploaded later Y12")
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

    @Test("subscribe reuses a subscription with the same query or name, and can assign another query to a name Y2")
    func names() async throws {
        let fixture = try SyncFixture()
        let realm = try fixture.realm()
        let tasks = realm.objects(TaskItem.self)
        let important = tasks.where { $0.priority > 1 }
        _ = try await important.subscribe()
        _ = try await important.subscribe()
        #expect(realm.subscriptions.count == 1)
        _ = try await important.subscribe(name: "first")
        _ = try await important.subscribe(name: "second")
        _ = try await important.subscribe(name: "second")
        #expect(realm.subscriptions.map(\.name) == [nil, "first", "second"])
        let created = try #require(realm.subscriptions.first(named: "second"))
        _ = try await tasks.where { $0.priority > 7 }.subscribe(name: "second")
        let replaced = try #require(realm.subscriptions.first(named: "second"))
        #expect(realm.subscriptions.count == 3 && replaced.queryString == "priority >= 8")
        #expect(replaced.createdAt == created.createdAt && replaced.updatedAt > created.updatedAt)
        // A named subscription has the same query. But without a name, `subscribe` compares only unnamed subscriptions,
        // so it adds a subscription.
        _ = try await tasks.where { $0.priority > 7 }.subscribe()
        #expect(realm.subscriptions.map(\.name) == [nil, "first", "second", nil])
        #expect(realm.subscriptions.first(ofType: TaskItem.self) { $0.priority > 7 }?.name == "second")
    }

    @Test("unsubscribe removes the subscription of the results, and its objects are removed from the file Y5 Y6")
    func unsubscribe() async throws {
        let fixture = try SyncFixture()
        try await fixture.insert(1, title: "write", priority: 5)
        let realm = try fixture.realm()
        let query = realm.objects(TaskItem.self).where { $0.priority > 1 }
        _ = try await query.subscribe(name: "important")
        let named = try await query.subscribe(name: "overOne")
        let unnamed = try await query.subscribe()
        named.unsubscribe()
        #expect(realm.subscriptions.map(\.name) == ["important", nil])
        query.unsubscribe()
        #expect(realm.subscriptions.map(\.name) == ["important"])
        // No unnamed subscription is left, so the second call has no effect.
        unnamed.unsubscribe()
        #expect(realm.subscriptions.map(\.name) == ["important"] && query.count == 1)
        let subscriptions = realm.subscriptions
        try await subscriptions.update { subscriptions.removeAll() }
        #expect(query.isEmpty && fixture.service.rows.count == 1)
    }

    @Test("'.onCreation' waits only for a new query, '.always' waits for the current state, '.never' does not wait Y3")
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
        // The service is not reachable. The query is not new, so `subscribe` returns without waiting.
        _ = try await tasks.subscribe(waitForSync: .onCreation)
    }

    @Test("subscribe throws after its timeout and when its task is cancelled, and the subscription remains Y4")
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

    @Test("subscribe throws if subscriptions do not support the query, or if the service refuses the query Y7 Y8")
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
        // The objects of the previous set stay up to date.
        try await fixture.insert(1, title: "write")
        try await fixture.wait { tasks.count == 1 }
    }

    @Test("update changes the subscriptions in one transaction; if its block fails, nothing is changed Y9 Y10")
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

    @Test("subscriptions that do not fit into one message are refused, and the previous subscriptions remain Y7 Y9")
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

    // Calls the overload of `update` that does not wait. In an asynchronous function, Swift prefers the overload that
    // waits.
    private func change(_ subscriptions: SyncSubscriptionSet, _ block: () throws -> Void) throws {
        try subscriptions.update(block)
    }
}
