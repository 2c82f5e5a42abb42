import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

private func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        body()
        done.signal()
    }
    done.wait()
}

@Suite struct RealmMisuseTests {
    @Test("using a Realm or its objects on another thread traps, and the message names its isolation O1")
    func threads() async {
        let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) let test = try TestRealm()
            nonisolated(unsafe) let node = Node(id: 1)
            try test.realm.write { test.realm.add(node) }
            try test.onNewThread { _ in _ = node.name }
        }
        expectMessage(read, "was used on another thread, but it belongs to")
        let write = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) let test = try TestRealm()
            nonisolated(unsafe) let node = Node(id: 1)
            try test.realm.write { test.realm.add(node) }
            try test.realm.beginWrite()
            onAnotherThread { node.name = "x" }
        }
        expectMessage(write, "was used on another thread, but it belongs to")
        let results = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) let test = try TestRealm()
            nonisolated(unsafe) let all = test.realm.objects(Node.self)
            try test.onNewThread { _ in _ = all.count }
        }
        expectMessage(results, "a collection of 'Node' was used on another thread")
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) let test = try TestRealm()
            nonisolated(unsafe) let node = Node(id: 1)
            try test.realm.write { test.realm.add(node) }
            nonisolated(unsafe) let list = node.children
            try test.onNewThread { _ in _ = list.count }
        }
        expectMessage(list, "the collection 'Node.children' was used on another thread")
        let commit = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) let test = try TestRealm()
            try test.realm.beginWrite()
            onAnotherThread { try? test.realm.commitWrite() }
        }
        expectMessage(commit, "a Realm was used on another thread")
    }

    @Test("using an object outside of the queue of its Realm traps, and the message names the queue O1")
    func queues() async {
        let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let queue = DispatchQueue(label: "kennel")
            nonisolated(unsafe) let realm = try Realm(configuration: test.configuration, queue: queue)
            nonisolated(unsafe) let node = Node(id: 1)
            try queue.sync { try realm.write { realm.add(node) } }
            _ = node.name
        }
        expectMessage(read, "it belongs to the queue 'kennel'")
    }

    @Test("beginning a write inside a write traps, and so does ending a write that was not begun O4")
    func transactions() async {
        let nested = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write { try test.realm.write {} }
        }
        expectMessage(nested, "a write transaction was begun inside another one")
        let commit = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TestRealm().realm.commitWrite()
        }
        expectMessage(commit, "a write transaction was committed although none is open")
        let cancel = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TestRealm().realm.cancelWrite()
        }
        expectMessage(cancel, "a write transaction was cancelled although none is open")
        let assign = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = Node(id: 1)
            try test.realm.write { test.realm.add(node) }
            node.name = "x"
        }
        expectMessage(assign, "a 'Node' was changed outside a write transaction")
    }

    @Test("writing to a read-only Realm traps O2") func readOnly() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent(
                "read-only-\(UUID().uuidString).realm")
            do { _ = try Realm(configuration: .init(fileURL: url)) }
            try Realm(configuration: .init(fileURL: url, readOnly: true)).write {}
        }
        expectMessage(result, "opened with 'readOnly' and cannot be changed")
    }

    @Test("using an invalidated object or collection traps O3 O14") func invalidated() async {
        let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = Node(id: 6)
            try test.realm.write { test.realm.add(node) }
            test.realm.invalidate()
            _ = node.name
        }
        expectMessage(object, "the 'Node' with the key 6 was deleted, or its Realm was invalidated")
        let results = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let all = test.realm.objects(Node.self)
            test.realm.invalidate()
            _ = all.count
        }
        expectMessage(results, "a collection of 'Node' was used after its Realm had been invalidated")
        let write = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = Node(id: 6)
            try test.realm.write {
                test.realm.add(node)
                test.realm.delete(node)
                node.name = "x"
            }
        }
        expectMessage(write, "the 'Node' with the key 6 was deleted")
        let link = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let (a, b) = (Node(id: 6), Node(id: 7))
            try test.realm.write {
                test.realm.add([a, b])
                test.realm.delete(b)
                a.next = b
            }
        }
        expectMessage(link, "the 'Node' with the key 7 was deleted")
    }

    @Test("a lookup by class name traps if the class has no primary key, or if its primary key has another type O7")
    func keys() async {
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.dynamicObject(ofType: "Keyless", forPrimaryKey: 1)
        }
        expectMessage(none, "'Keyless' has no primary key")
        let wrong = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.dynamicObject(ofType: "StringKey", forPrimaryKey: 1)
        }
        expectMessage(wrong, "'StringKey.code' takes 'String', but was given '1'")
    }

    @Test("an unknown property name traps, and the message lists the existing names O12") func names() async {
        let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = IntKey()["text"]
        }
        expectMessage(read, "'IntKey' has no property 'text'. It has 'id', 'content'")
    }
}
