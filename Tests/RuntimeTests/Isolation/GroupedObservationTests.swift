import ConformanceModels
import Dispatch
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// Observers of, and references to, objects that grouped asynchronous writes change, or replace by an object with the
/// same primary key. The writes of a group become durable together.
@Suite("observers of and references to objects of grouped writes")
struct GroupedObservationTests {
    private let test: TestRealm
    private var realm: Realm { test.realm }

    init() throws { test = try TestRealm() }

    private func node(_ id: Int, in realm: Realm? = nil) -> Node? {
        (realm ?? test.realm).object(ofType: Node.self, forPrimaryKey: id)
    }

    @Test(
        "an observer registered in a grouped write starts from the state after the earlier writes N71 N75 N132",
        arguments: [false, true])
    func object(isReplaced: Bool) throws {
        if isReplaced { try realm.write { realm.add(Node(id: 7, name: "old")) } }
        var lines: [String] = []
        var token: NotificationToken?
        realm.writeAsync {
            if let old = node(7) { realm.delete(old) }
            realm.add(Node(id: 7, name: "seven"))
        }
        realm.writeAsync {
            let seven = node(7)
            token = seven?.observe { lines.append(text($0)) }
            seven?.amount = 1
        }
        test.finishAsyncWrites()
        test.deliverAll()
        try realm.write { node(7)?.amount = 2 }
        test.deliverAll()
        #expect(lines == ["amount: 0.0 → 1.0", "amount: 1.0 → 2.0"])
        withExtendedLifetime(token) {}
    }

    @Test("an observer on a queue is registered when the group is durable N16 N75 N132")
    func onQueue() throws {
        let queue = DispatchQueue(label: "observer")
        nonisolated(unsafe) var lines: [String] = []
        let called = DispatchSemaphore(value: 0)
        var tokens: [NotificationToken] = []
        realm.writeAsync { realm.add(Node(id: 1)) }
        realm.writeAsync {
            guard let one = node(1) else { return }
            let token = one.observe(on: queue) { change in
                lines.append(text(change))
                called.signal()
            }
            tokens.append(token)
            // The object is not visible on the queue yet, because the write that added it is not durable.
            queue.sync {}
        }
        test.finishAsyncWrites()
        queue.sync {}
        try realm.write { node(1)?.name = "x" }
        #expect(called.wait(timeout: .now() + 30) == .success)
        queue.sync {
            #expect(lines == ["name:  → x"])
            tokens = []
        }
    }

    @Test("an observer on a queue is not registered for a new object that has replaced its object N16 N52 N59")
    func replacedBeforeQueue() throws {
        try realm.write { realm.add(Node(id: 1, name: "old", children: [Node(id: 2)])) }
        let old = try #require(node(1))
        let (parents, children) = (old.parents, old.children.where { $0.id > 0 })
        let queue = DispatchQueue(label: "observer")
        let isReplaced = DispatchSemaphore(value: 0)
        queue.async { isReplaced.wait() }
        nonisolated(unsafe) var lines: [String] = []
        let tokens = [
            old.observe(on: queue) { lines.append(text($0)) },
            old.children.observe(on: queue) { _ in lines.append("children") },
            parents.observe(on: queue) { _ in lines.append("parents") },
            children.observe(on: queue) { _ in lines.append("filtered children") },
        ]
        try realm.write {
            realm.delete(old)
            realm.add(Node(id: 1, name: "new"))
        }
        isReplaced.signal()
        queue.sync {}
        try realm.write { node(1)?.children.append(realm.objects(Node.self)[0]) }
        test.deliverAll()
        queue.sync { #expect(lines == ["deleted"]) }
        withExtendedLifetime(tokens) {}
    }

    @Test("a reference to a replaced object resolves to nil, even inside the write that replaces it N127 N128 N129")
    func references() throws {
        try realm.write { realm.add([Node(id: 1, name: "old"), Node(id: 2)]) }
        let old = try #require(node(1))
        let frozen = old.freeze()
        let (first, list) = (ThreadSafeReference(to: old), ThreadSafeReference(to: old.children))
        var second: ThreadSafeReference<Node>?
        var third: ThreadSafeReference<Node>?
        try realm.write {
            node(2)?.name = "x"
            second = ThreadSafeReference(to: old)
            realm.delete(old)
            let new = Node(id: 1, name: "new")
            realm.add(new)
            third = ThreadSafeReference(to: new)
            #expect(realm.resolve(first) == nil)
            #expect(realm.resolve(list) == nil)
            #expect(frozen.thaw() == nil)
        }
        #expect(try realm.resolve(#require(second)) == nil)
        #expect(try realm.resolve(#require(third))?.name == "new")
    }

    @Test("a reference does not resolve to an object that was added after 'deleteAll' in the same write N127")
    func deletedAll() throws {
        try realm.write { realm.add(Node(id: 1, name: "old")) }
        let reference = try ThreadSafeReference(to: #require(node(1)))
        try realm.write {
            realm.deleteAll()
            realm.add(Node(id: 1, name: "new"))
            #expect(realm.resolve(reference) == nil)
        }
    }

    @Test(
        "a delivery in a nested run loop does not move a Realm with writes that are not durable N135 O14"
    )
    func nestedRunLoop() throws {
        var tokens = [realm.objects(Node.self).observe { _ in }]
        test.deliverAll()
        var names: [String] = []
        realm.beginAsyncWrite {
            realm.add(Node(id: 3, name: "three"))
            realm.commitAsyncWrite(allowGrouping: true)
            tokens.append(realm.objects(Owner.self).observe { _ in })
            while test.scheduler.waitForWork(seconds: 0.2) { test.scheduler.run() }
            names.append("\(realm.objects(Node.self).map(\.name))")
        }
        realm.writeAsync {
            let value: [String: Any] = ["id": 3, "amount": 5.0]
            names.append(realm.create(Node.self, value: value, update: .modified).name)
        }
        test.finishAsyncWrites()
        #expect(names == ["[\"three\"]", "three"])
        try test.onNewThread { realm in
            let three = try #require(node(3, in: realm))
            #expect(three.name == "three" && three.amount == 5)
        }
        tokens = []
    }

    @Test("if a Realm gets classes by being opened again, other executors can use these classes N16 N128 N129 D78")
    func moreClasses() throws {
        let test = try TestRealm { $0.objectTypes = [Node.self, Part.self, Screw.self] }
        var configuration = test.configuration
        configuration.objectTypes = [Node.self, Part.self, Screw.self, IntKey.self]
        _ = try Realm(configuration: configuration)
        try test.realm.write { test.realm.add(IntKey(id: 1)) }
        let key = try #require(test.realm.objects(IntKey.self).first)
        let (frozen, reference) = (Frozen(key), ThreadSafeReference(to: key))
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var ids: [Int?] = []
        Thread.detachNewThread {
            ids.append(frozen.value.thaw(isolation: nil).map { Int($0.id) })
            done.signal()
        }
        done.wait()
        #expect(ids == [1])
        #expect(test.realm.resolve(reference)?.id == 1)
        let queue = DispatchQueue(label: "observer")
        nonisolated(unsafe) var calls = 0
        let token = test.realm.objects(IntKey.self).observe(on: queue) { _ in calls += 1 }
        let deadline = Date(timeIntervalSinceNow: 30)
        while queue.sync(execute: { calls }) == 0, Date() < deadline { sched_yield() }
        #expect(queue.sync { calls } == 1)
        withExtendedLifetime(token) {}
    }

    @Test("if a Realm advances because it is opened again with more classes, its observers are notified N27 N38")
    func openedAgain() throws {
        let test = try TestRealm { $0.objectTypes = [Node.self, Part.self, Screw.self] }
        let nodes = test.realm.objects(Node.self)
        var counts: [Int] = []
        let token = nodes.observe { _ in counts.append(nodes.count) }
        test.deliverAll()
        try test.onNewThread { realm in try realm.write { realm.add(Node(id: 2)) } }
        var configuration = test.configuration
        configuration.objectTypes = [Node.self, Part.self, Screw.self, IntKey.self]
        _ = try Realm(configuration: configuration)
        #expect(nodes.count == counts.last)
        test.deliverAll()
        #expect(counts == [0, 1])
        withExtendedLifetime(token) {}
    }

    @Test("after 'invalidate', the observed collection of a deleted owner is empty N59")
    func invalidated() throws {
        try realm.write { realm.add(Node(id: 1, children: [Node(id: 2)])) }
        var counts: [Int] = []
        let token = node(1)?.children.observe { change in
            if case .update(let list, _, _, _) = change { counts.append(list.count) }
        }
        test.deliverAll()
        realm.invalidate()
        try test.onNewThread { realm in try realm.write { if let one = node(1, in: realm) { realm.delete(one) } } }
        test.deliverAll()
        #expect(counts == [0])
        withExtendedLifetime(token) {}
    }

    @Test("when autorefresh is turned on, the Realm moves to the newest version N27")
    func autorefresh() throws {
        let nodes = realm.objects(Node.self)
        let token = nodes.observe { _ in }
        test.deliverAll()
        realm.autorefresh = false
        try test.onNewThread { realm in try realm.write { realm.add(Node(id: 1)) } }
        test.deliverAll()
        #expect(nodes.count == 0)
        realm.autorefresh = true
        test.deliverAll()
        #expect(nodes.count == 1)
        withExtendedLifetime(token) {}
    }
}
