import ConformanceModels
import Foundation
import MartletTestSupport
import Observation
import Synchronization
import Testing

@_spi(Generated) @testable import Martlet

/// Counts the calls of `onChange` for tracked reads.
final class OnChangeCounter: Sendable {
    private let calls = Atomic<Int>(0)

    var count: Int { calls.load(ordering: .relaxed) }

    func track(_ read: () -> Void) {
        withObservationTracking(read) { [self] in calls.add(1, ordering: .relaxed) }
    }
}

/// Tracks the reads of `read`, and runs `change`. Returns how often `onChange` was called meanwhile.
func onChangeCalls(_ read: () -> Void, _ change: () throws -> Void) rethrows -> Int {
    let counter = OnChangeCounter()
    counter.track(read)
    try change()
    return counter.count
}

/// Returns a Realm that tracks reads, with three nodes. The first node links to the other nodes.
func trackedNodes() throws -> (test: TestRealm, nodes: [Node]) {
    let test = try TestRealm { $0.tracksReads = true }
    let nodes = try test.nodes(3)
    try test.realm.write {
        nodes[0].next = nodes[1]
        nodes[0].children.append(objectsIn: [nodes[1], nodes[2]])
        nodes[0].peers.insert(nodes[1])
        nodes[0].named.updateValue(nodes[1], forKey: "a")
    }
    return (test, nodes)
}

/// A reader is a closure that reads in `withObservationTracking`. A call of its `onChange` notifies the reader.
@Suite("tracked reads: objects")
struct TrackedObjectTests {
    @Test("an assignment notifies readers of the property once, before the value changes N160")
    func assignment() throws {
        let (test, nodes) = try trackedNodes()
        nonisolated(unsafe) let node = nodes[0]
        let seen = Mutex<[String]>([])
        withObservationTracking {
            _ = node.name
        } onChange: {
            seen.withLock { $0.append(node.name) }
        }
        try test.realm.write {
            node.amount = 2
            nodes[1].name = "other"
            #expect(seen.withLock { $0 } == [])
            node.name = "a"
            #expect(seen.withLock { $0 } == ["n1"])
            node.name = "b"
        }
        #expect(seen.withLock { $0 } == ["n1"])
    }

    @Test("a reader that reads again when notified is notified again N160")
    func again() throws {
        let (test, nodes) = try trackedNodes()
        nonisolated(unsafe) let node = nodes[0]
        let seen = Mutex(0)
        @Sendable func track() {
            withObservationTracking {
                _ = node.name
            } onChange: {
                seen.withLock { $0 += 1 }
                track()
            }
        }
        track()
        try test.realm.write { for number in 1...3 { node.name = "\(number)" } }
        #expect(seen.withLock { $0 } == 3)
    }

    @Test("readers of a row are notified even if the accessor of the row was released N161")
    func otherAccessor() throws {
        let test = try TestRealm { $0.tracksReads = true }
        do { _ = try test.nodes(1) }
        let count = try onChangeCalls {
            _ = test.realm.objects(Node.self).first?.name
        } _: {
            try test.realm.write { test.realm.node(1).name = "a" }
        }
        #expect(count == 1)
    }

    @Test("a remote commit notifies readers when the Realm advances: in refresh, in beginWrite or automatically N162")
    func remote() throws {
        let (test, nodes) = try trackedNodes()
        let read = { _ = nodes[0].name }
        try #expect(
            onChangeCalls(read) {
                try test.changeRemotely(1) { node, _ in node.amount = 7 }
                test.realm.refresh()
            } == 0)
        try #expect(
            onChangeCalls(read) {
                try test.changeRemotely(1) { node, _ in node.name = "a" }
                test.realm.refresh()
            } == 1)
        try #expect(
            onChangeCalls(read) {
                try test.changeRemotely(1) { node, _ in node.name = "b" }
                try test.realm.write {}
            } == 1)
        try #expect(
            onChangeCalls(read) {
                try test.changeRemotely(1) { node, _ in node.name = "c" }
                // A delivery that was scheduled earlier may run first.
                while nodes[0].name != "c", test.scheduler.waitForWork() { test.scheduler.run() }
            } == 1)
        #expect(nodes[0].name == "c")
    }

    @Test("a remote commit notifies readers before its values are visible N162")
    func remoteBefore() throws {
        let (test, nodes) = try trackedNodes()
        nonisolated(unsafe) let node = nodes[0]
        let seen = Mutex<[String]>([])
        withObservationTracking {
            _ = node.name
        } onChange: {
            seen.withLock { $0.append(node.name) }
        }
        try test.changeRemotely(1) { node, _ in node.name = "a" }
        test.realm.refresh()
        #expect(seen.withLock { $0 } == ["n1"])
        #expect(node.name == "a")
    }

    @Test("cancelling a write notifies readers of the values that it restores N162")
    func cancelled() throws {
        let (test, nodes) = try trackedNodes()
        try test.realm.beginWrite()
        nodes[0].name = "a"
        #expect(
            onChangeCalls {
                _ = nodes[0].name
            } _: {
                test.realm.cancelWrite()
            } == 1)
        #expect(nodes[0].name == "n1")
    }

    @Test("deleting an object in any way notifies all of its readers N163", arguments: 0..<4)
    func deleted(route: Int) throws {
        let (test, nodes) = try trackedNodes()
        let remove: (Realm, Node) -> Void = { realm, node in
            switch route {
            case 0, 3: realm.delete(node)
            case 1: realm.delete(realm.objects(Node.self).where { $0.id == 2 })
            default: realm.deleteAll()
            }
        }
        let change = {
            if route == 3 {
                try test.changeRemotely(2) { node, realm in remove(realm, node) }
                test.realm.refresh()
            } else {
                try test.realm.write { remove(test.realm, nodes[1]) }
            }
        }
        let names = ["value", "existence", "link", "list", "set", "map", "results", "key"]
        let counts = names.map { _ in OnChangeCounter() }
        counts[0].track { _ = nodes[1].name }
        counts[1].track { _ = nodes[1].isInvalidated }
        counts[2].track { _ = nodes[0].next }
        counts[3].track { _ = nodes[0].children.count }
        counts[4].track { _ = nodes[0].peers.count }
        counts[5].track { _ = nodes[0].named["a"] }
        counts[6].track { _ = test.realm.objects(Node.self).count }
        counts[7].track { _ = test.realm.object(ofType: Node.self, forPrimaryKey: 2) }
        try change()
        for (name, count) in zip(names, counts) { #expect(count.count == 1, "\(name)") }
        #expect(nodes[1].isInvalidated)
    }

    @Test("invalidating a Realm notifies readers N162")
    func invalidated() throws {
        let (test, nodes) = try trackedNodes()
        #expect(
            onChangeCalls {
                _ = nodes[0].name
            } _: {
                test.realm.invalidate()
            } == 1)
    }

    @Test("readers of a link are notified when the link is reassigned, not when its target changes")
    func link() throws {
        let (test, nodes) = try trackedNodes()
        let read = { _ = nodes[0].next }
        try #expect(onChangeCalls(read) { try test.realm.write { nodes[1].name = "a" } } == 0)
        try #expect(onChangeCalls(read) { try test.realm.write { nodes[0].next = nodes[2] } } == 1)
        try #expect(
            onChangeCalls {
                _ = nodes[0].next?.name
            } _: {
                try test.realm.write { nodes[2].name = "a" }
            } == 1)
    }

    @Test("untyped reads, encoding and copies are tracked")
    func untyped() throws {
        let (test, nodes) = try trackedNodes()
        let reads: [() -> Void] = [
            { _ = nodes[0].value(forKey: "name") }, { _ = nodes[0]["name"] }, { _ = nodes[0].detached() },
            { _ = try? JSONEncoder().encode(nodes[0]) }, { _ = nodes[0].description },
        ]
        for (number, read) in reads.enumerated() {
            try #expect(onChangeCalls(read) { try test.realm.write { nodes[0].name = "\(number)" } } == 1, "\(number)")
        }
    }

    @Test("an update by primary key notifies readers of changed properties only")
    func update() throws {
        let (test, nodes) = try trackedNodes()
        try #expect(
            onChangeCalls {
                _ = nodes[0].name
            } _: {
                try test.realm.write {
                    _ = test.realm.create(Node.self, value: ["id": 1, "name": "a"], update: .modified)
                }
            } == 1)
        try #expect(
            onChangeCalls {
                _ = nodes[0].name
            } _: {
                try test.realm.write {
                    _ = test.realm.create(Node.self, value: ["id": 1, "name": "a"], update: .modified)
                }
            } == 0)
    }

    @Test("a read of a projection tracks only the projected property that was read")
    func projection() throws {
        let (test, nodes) = try trackedNodes()
        let view = NodeProjection(projecting: nodes[0])
        try #expect(
            onChangeCalls {
                _ = view.name
            } _: {
                try test.realm.write { nodes[0].name = "a" }
            } == 1)
        try #expect(
            onChangeCalls {
                _ = view.name
            } _: {
                try test.realm.write { nodes[0].amount = 4 }
            } == 0)
    }

    @Test("an assignment in the tracking closure is not a read, and does not stop the tracking of reads")
    func writes() throws {
        let (test, nodes) = try trackedNodes()
        try #expect(
            onChangeCalls {
                do { try test.realm.write { nodes[0].name = "a" } } catch { Issue.record(error) }
            } _: {
                try test.realm.write { nodes[0].name = "b" }
            } == 0)
        try #expect(
            onChangeCalls {
                _ = nodes[0].name
                do { try test.realm.write { nodes[0].name = "c" } } catch { Issue.record(error) }
            } _: {
                try test.realm.write { nodes[0].name = "d" }
            } == 1)
    }

    @Test("objects of a queue are tracked on the queue")
    func queue() throws {
        let test = try TestRealm { $0.tracksReads = true }
        _ = try test.nodes(1)
        let queue = DispatchQueue(label: "tracked")
        var configuration = test.configuration
        configuration.scheduler = nil
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            let node = realm.node(1)
            try #expect(
                onChangeCalls {
                    _ = node.name
                } _: {
                    try realm.write { node.name = "a" }
                } == 1)
        }
    }

    @Test("reads of frozen objects are not tracked N165")
    func frozen() throws {
        let (test, nodes) = try trackedNodes()
        let node = nodes[0].freeze()
        let count = try onChangeCalls {
            #expect(node.name == "n1" && node.children.count == 2 && node.realm?.objects(Node.self).count == 3)
        } _: {
            try test.realm.write { nodes[0].name = "a" }
        }
        #expect(count == 0)
    }
}
