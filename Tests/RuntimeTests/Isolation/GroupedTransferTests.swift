import ConformanceModels
import Dispatch
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// Frozen objects, and references to objects, in writes that are grouped, cancelled or not durable yet. The writes of a
/// group become durable together.
@Suite("freezing and referring to objects of writes that are not durable")
struct GroupedTransferTests {
    private let test: TestRealm
    private var realm: Realm { test.realm }

    init() throws { test = try TestRealm() }

    private func node(_ id: Int, in realm: Realm? = nil) -> Node? {
        (realm ?? test.realm).object(ofType: Node.self, forPrimaryKey: id)
    }

    // MARK: Freezing

    @Test("before the first change of a grouped write, freezing returns the state after the earlier writes N125 N132")
    func freezes() throws {
        let version = realm.context.version
        var (frozen, done, isCalledInWrite): ([Frozen<Node>], [Int], Bool) = ([], [], false)
        var calls = 0
        let token = realm.observe { _, realm in
            calls += 1
            if realm.isInWriteTransaction { isCalledInWrite = true }
        }
        realm.writeAsync({ realm.add(Node(id: 1, name: "a")) }, onComplete: { if $0 == nil { done.append(1) } })
        realm.writeAsync {
            guard let one = node(1) else { return }
            frozen.append(Frozen(one))
            #expect(realm.isInWriteTransaction && calls == 0)
            one.name = "b"
            frozen.append(Frozen(one))
        } onComplete: {
            if $0 == nil { done.append(2) }
        }
        realm.writeAsync {
            // The second write has made the first write durable, so the group now begins with the second write.
            guard let one = node(1) else { return }
            one.name = "c"
            frozen.append(Frozen(one))
        } onComplete: {
            if $0 == nil { done.append(3) }
        }
        test.finishAsyncWrites()
        #expect(frozen.map(\.name) == ["a", "a", "a"] && node(1)?.name == "c")
        #expect(done == [1, 2, 3] && calls == 3 && !isCalledInWrite)
        #expect(realm.context.version == version + 3)
        withExtendedLifetime(token) {}
    }

    @Test(
        "registering an observer in a grouped write first makes the earlier writes of the group durable N10 N71")
    func registers() throws {
        var (tokens, isDurable): ([NotificationToken], Bool) = ([], false)
        realm.writeAsync { realm.add(Node(id: 1, name: "a")) }
        realm.writeAsync {
            guard let one = node(1) else { return }
            tokens.append(one.observe { _ in })
            #expect(realm.isInWriteTransaction)
            try? test.onNewThread { other in isDurable = node(1, in: other)?.name == "a" }
            one.name = "b"
        }
        test.finishAsyncWrites()
        #expect(isDurable && node(1)?.name == "b")
        withExtendedLifetime(tokens) {}
    }

    @Test(
        "if a grouped write freezes results and is cancelled, observers are still called for the earlier writes N25 N37"
    )
    func cancelledAfterFreezing() throws {
        let nodes = realm.objects(Node.self)
        let (realmCalls, nodeCount) = (NumberBox(), NumberBox())
        let tokens = [
            realm.observe { _, _ in realmCalls.number += 1 }, nodes.observe { _ in nodeCount.number = nodes.count },
        ]
        test.deliverAll()
        realm.writeAsync { realm.add(Node(id: 1)) }
        realm.beginAsyncWrite {
            _ = nodes.freeze()
            realm.add(Node(id: 2))
        }
        test.finishAsyncWrites()
        test.deliverAll()
        #expect(realmCalls.number == 1 && nodeCount.number == 1 && nodes.map(\.id) == [1])
        withExtendedLifetime(tokens) {}
    }

    @Test("a grouped write that freezes an object holds the write lock until its end N125 N140")
    func isolation() throws {
        try realm.write { realm.add(Node(id: 1)) }
        let (mayWrite, hasWritten) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let configuration = withoutScheduler(test.configuration)
        Thread.detachNewThread {
            if let realm = try? Realm(configuration: configuration) {
                mayWrite.wait()
                try? realm.write { realm.object(ofType: Node.self, forPrimaryKey: 1)?.amount += 100 }
            }
            hasWritten.signal()
        }
        realm.writeAsync { realm.add(Node(id: 2)) }
        realm.writeAsync {
            guard let one = node(1) else { return }
            let before = one.amount
            mayWrite.signal()
            // Within 50 milliseconds the other thread begins to wait for the lock.
            _ = hasWritten.wait(timeout: .now() + .milliseconds(50))
            #expect(node(2)?.freeze().id == 2)
            _ = hasWritten.wait(timeout: .now() + .milliseconds(50))
            one.amount = before + 1
        }
        test.finishAsyncWrites()
        hasWritten.wait()
        realm.refresh()
        #expect(node(1)?.amount == 101)
    }

    // MARK: References

    @Test("a reference that is created after a grouped commit can be resolved on another thread at once N128 N135")
    func referenceAfterCommit() throws {
        var ids: [Int?] = []
        var calls = 0
        var token: NotificationToken?
        realm.beginAsyncWrite {
            realm.add(Node(id: 1))
            realm.commitAsyncWrite(allowGrouping: true)
            guard let one = node(1) else { return }
            token = realm.observe { _, _ in calls += 1 }
            let reference = ThreadSafeReference(to: one)
            ids.append(try? onOtherThread(test) { $0.resolve(reference)?.id })
        }
        realm.writeAsync {
            guard let one = node(1) else { return }
            let reference = ThreadSafeReference(to: one)
            ids.append(try? onOtherThread(test) { $0.resolve(reference)?.id })
        }
        realm.writeAsync { realm.add(Node(id: 2)) }
        realm.writeAsync {
            guard let two = node(2) else { return }
            let reference = ThreadSafeReference(to: two)
            ids.append(try? onOtherThread(test) { $0.resolve(reference)?.id })
        }
        test.finishAsyncWrites()
        #expect(ids == [1, 1, 2])
        #expect(calls == 3)
        withExtendedLifetime(token) {}
    }

    @Test("a Realm observer that a grouped write registers is not called for earlier writes of the group N13 N132")
    func observerInGroup() throws {
        var calls = 0
        var token: NotificationToken?
        realm.writeAsync { realm.add(Node(id: 1)) }
        realm.writeAsync {
            token = realm.observe { _, _ in calls += 1 }
            realm.add(Node(id: 2))
        }
        test.finishAsyncWrites()
        #expect(calls == 1)
        try realm.write { node(1)?.amount = 1 }
        #expect(calls == 2)
        withExtendedLifetime(token) {}
    }

    @Test("a reference to an object of a cancelled write does not resolve to a later object with its key N128")
    func cancelled() throws {
        var keyed: [ThreadSafeReference<Node>] = []
        var lists: [ThreadSafeReference<List<Node>>] = []
        var keyless: [ThreadSafeReference<Keyless>] = []
        func add(_ name: String) {
            let (node, other) = (Node(id: 1, name: name), Keyless(content: name))
            realm.add(node)
            realm.add(other)
            keyed.append(ThreadSafeReference(to: node))
            lists.append(ThreadSafeReference(to: node.children))
            keyless.append(ThreadSafeReference(to: other))
            // Inside the write, a reference to the node can be resolved.
            keyed.append(ThreadSafeReference(to: node))
            #expect(realm.resolve(keyed.removeLast())?.name == name)
        }
        try realm.beginWrite()
        add("cancelled")
        realm.cancelWrite()
        realm.writeAsync { realm.add(Node(id: 2)) }
        realm.beginAsyncWrite { add("rolled back") }
        realm.writeAsync { add("stored") }
        test.finishAsyncWrites()
        #expect(keyed.map { realm.resolve($0)?.name } == [nil, nil, "stored"])
        let found = try onOtherThread(test) { [lists, keyless] realm in
            lists.map { realm.resolve($0) != nil } + keyless.map { realm.resolve($0)?.content == "stored" }
        }
        #expect(found == [false, false, true, false, false, true])
    }

    @Test("on another thread, a reference to an object of an open write does not resolve to the replaced object N128")
    func replacing() throws {
        try realm.write { realm.add(Node(id: 1, name: "old")) }
        try realm.write {
            if let old = node(1) { realm.delete(old) }
            let new = Node(id: 1, name: "new")
            realm.add(new)
            let reference = ThreadSafeReference(to: new)
            let isMissing = try onOtherThread(test) { $0.resolve(reference) == nil }
            #expect(isMissing)
        }
    }

    @Test("resolving a reference adds the classes that the resolving Realm lacks N127 N128 D78")
    func fewerClasses() throws {
        let few = try TestRealm { $0.objectTypes = [Node.self, Part.self, Screw.self] }
        var configuration = few.configuration
        configuration.objectTypes = [Node.self, Part.self, Screw.self, IntKey.self]
        configuration.scheduler = nil
        let queue = DispatchQueue(label: "more classes")
        nonisolated(unsafe) var found: [ThreadSafeReference<Results<IntKey>>] = []
        nonisolated(unsafe) var objects: [ThreadSafeReference<IntKey>] = []
        nonisolated(unsafe) var frozen: [Frozen<Results<IntKey>>] = []
        try queue.sync { [configuration] in
            let realm = try Realm(configuration: configuration, queue: queue)
            try realm.write { realm.add(IntKey(id: 1)) }
            let keys = realm.objects(IntKey.self)
            found = [ThreadSafeReference(to: keys), ThreadSafeReference(to: keys)]
            objects = [ThreadSafeReference(to: keys[0])]
            frozen = [Frozen(keys)]
        }
        #expect(few.realm.resolve(objects[0])?.id == 1)
        #expect(few.realm.resolve(found[0])?.map(\.id) == [1])
        #expect(frozen[0].thaw()?.map(\.id) == [1])
        #expect(few.realm.objects(IntKey.self).count == 1)
        frozen = []
    }
}

private final class NumberBox {
    var number = 0
}
