import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("Key-value: versions")
struct KeyValueVersionTests {
    @Test("observers are notified of remote changes at refresh and when a write begins K3")
    func remote() throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        let recorder = node.recorder("name")
        try test.changeRemotely(1) { node, _ in node.name = "a" }
        #expect(recorder.calls == [])
        test.realm.refresh()
        #expect(recorder.take() == ["name: n1 -> a"])
        try test.changeRemotely(1) { node, _ in node.name = "b" }
        try test.realm.write {
            #expect(recorder.take() == ["name: a -> b"])
        }
        test.realm.refresh()
        #expect(recorder.take() == [])
    }

    @Test("the scheduler delivers remote changes to a Realm that has only key-value observers K3")
    func schedulerDelivery() throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        let recorder = node.recorder("name")
        try test.changeRemotely(1) { node, _ in node.name = "a" }
        // Background work computes the change set, and then schedules a delivery.
        while test.scheduler.count == 0 { sched_yield() }
        test.scheduler.run()
        #expect(recorder.calls == ["name: n1 -> a"])
    }

    @Test("a series of remote changes causes one call, with the values before and after the series K6")
    func series() throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        try test.realm.write { node.amount = 1 }
        let recorder = node.recorder("amount")
        for value in 2...10 { try test.changeRemotely(1) { node, _ in node.amount = Double(value) } }
        test.realm.refresh()
        #expect(recorder.calls == ["amount: 1.0 -> 10.0"])
    }

    @Test("the old value is correct even if the property was never read K6", arguments: [true, false])
    func unread(isWrite: Bool) throws {
        let test = try TestRealm()
        _ = try test.nodes(1)
        let node = test.realm.node(1)
        let recorder = node.recorder("name", "children")
        try test.changeRemotely(1) { node, _ in
            node.name = "a"
            node.children.append(node)
        }
        if isWrite { try test.realm.write {} } else { test.realm.refresh() }
        #expect(recorder.calls == ["name: n1 -> a", "children insertion 0: - -> [#1]"])
    }

    @Test("add and create with an update policy notify observers of the existing row K26")
    func update() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(2)
        let recorder = nodes[0].recorder("name", "amount", "next", "children")
        try test.realm.write {
            test.realm.add(Node(id: 1, name: "x"), update: .modified)
            #expect(recorder.take() == ["name: n1 -> x"])
            test.realm.create(
                Node.self, value: ["id": 1, "name": "y", "next": nodes[1]] as [String: Any], update: .modified)
            #expect(recorder.take() == ["name: x -> y", "next: nil -> #2"])
            test.realm.create(Node.self, value: ["id": 1, "name": "y"] as [String: Any], update: .modified)
            #expect(recorder.take() == [])
            test.realm.create(Node.self, value: ["id": 1, "name": "y"] as [String: Any], update: .all)
            #expect(recorder.take() == ["name: y -> y"])
        }
    }

    @Test("cancelWrite notifies observers of the inverse changes K27")
    func cancel() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(4)
        try test.realm.write {
            nodes[0].next = nodes[1]
            nodes[0].children.append(objectsIn: [nodes[1], nodes[2]])
        }
        let recorder = nodes[0].recorder("name", "next", "children", "children.@count")
        try test.realm.beginWrite()
        nodes[0].name = "x"
        nodes[0].name = "y"
        nodes[0].next = nil
        nodes[0].children.append(nodes[3])
        _ = recorder.take()
        test.realm.cancelWrite()
        #expect(
            recorder.take() == [
                "name: y -> n1", "next: nil -> #2", "children removal 2: [#4] -> -", "children.@count: 3 -> 2",
            ])
        try test.realm.beginWrite()
        nodes[0].children.remove(at: 0)
        _ = recorder.take()
        test.realm.cancelWrite()
        #expect(recorder.take() == ["children insertion 0: - -> [#2]", "children.@count: 1 -> 2"])
        try test.realm.beginWrite()
        nodes[0].children.move(from: 0, to: 1)
        _ = recorder.take()
        test.realm.cancelWrite()
        #expect(recorder.take() == ["children replacement 0,1: [#3, #2] -> [#2, #3]"])
    }

    @Test("cancelling the deletion of a link target restores the link K27")
    func cancelDeletion() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(2)
        try test.realm.write { nodes[0].next = nodes[1] }
        let recorder = nodes[0].recorder("next")
        try test.realm.beginWrite()
        test.realm.delete(nodes[1])
        test.realm.cancelWrite()
        #expect(recorder.calls == ["next: #2 -> nil", "next: nil -> #2"])
    }

    @Test(
        "observers of cyclic paths are notified of changes after a rollback has restored a deleted object K27",
        arguments: [1, 2, 3])
    func cancelDeletionOfCycle(length: Int) throws {
        let test = try TestRealm()
        let nodes = try test.nodes(length)
        let second = Node(id: 1, name: "n1")
        try test.realm.write {
            for (index, node) in nodes.enumerated() { node.next = nodes[(index + 1) % length] }
            test.realm.add(second, update: .modified)
            second.next = nodes[1 % length]
        }
        let recorders = [nodes[0].recorder("next.next.name"), second.recorder("next.next.name")]
        try test.realm.beginWrite()
        test.realm.delete(nodes[0])
        test.realm.cancelWrite()
        _ = recorders.map { $0.take() }
        try test.realm.write { nodes[2 % length].name = "x" }
        #expect(
            recorders.map { $0.take() } == [
                ["next.next.name: n\(2 % length + 1) -> x"], ["next.next.name: n\(2 % length + 1) -> x"],
            ])
        try test.realm.write { nodes[1 % length].next = nil }
        #expect(recorders.map { $0.take() } == [["next.next.name: x -> nil"], ["next.next.name: x -> nil"]])
    }

    @Test("objects that a cancelled write created, and their lists, become invalidated K27")
    func cancelCreation() throws {
        let test = try TestRealm()
        try test.realm.beginWrite()
        let node = test.realm.create(Node.self, value: ["id": 5] as [String: Any])
        let recorder = node.recorder("isInvalidated", "name")
        var isListInvalidated = false
        let children = node.children
        let token = children.observe(\.isInvalidated) { _, _ in isListInvalidated = true }
        test.realm.cancelWrite()
        #expect(recorder.calls == ["isInvalidated: false -> true"])
        #expect(isListInvalidated && children.isInvalidated)
        token.invalidate()
    }

    @Test("before a change, observers of isInvalidated are called first; after the change, they are called last K28")
    func order() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(3)
        try test.realm.write { nodes[0].next = nodes[1] }
        var log: [String] = []
        var tokens: [KeyValueObservation] = []
        tokens.append(nodes[0].observe(\.next, options: [.prior]) { _, change in log.append("next \(change.isPrior)") })
        tokens.append(
            nodes[1].observe(\.isInvalidated, options: [.prior]) { _, change in
                log.append("invalidated \(change.isPrior)")
            })
        try test.changeRemotely(2) { node, realm in realm.delete(node) }
        test.realm.refresh()
        #expect(log == ["invalidated true", "next true", "next false", "invalidated false"])
        log = []
        try test.realm.write { nodes[0].next = nodes[2] }
        tokens.append(
            nodes[2].observe(\.isInvalidated, options: [.prior]) { _, change in
                log.append("invalidated \(change.isPrior)")
            })
        log = []
        try test.realm.write { test.realm.delete(nodes[2]) }
        #expect(log == ["invalidated true", "next true", "next false", "invalidated false"])
        withExtendedLifetime(tokens) {}
    }

    @Test("changes whose change sets are no longer stored are found by comparing values K6")
    func missingChangeSets() throws {
        let test = try TestRealm { $0.environment.changeRetention = 1 }
        let nodes = try test.nodes(4)
        try test.realm.write {
            nodes[0].children.append(nodes[1])
            nodes[0].next = nodes[2]
        }
        let recorder = nodes[0].recorder("name", "amount", "next", "children", "peers")
        let invalidated = nodes[2].recorder("isInvalidated", "name")
        let other = nodes[3].recorder("name", "children")
        try test.onNewThread { realm in
            for round in 0..<300 { try realm.write { realm.node(1).name = "r\(round)" } }
            try realm.write {
                realm.node(1).children.append(realm.node(4))
                realm.delete(realm.node(3))
            }
        }
        test.realm.refresh()
        #expect(recorder.calls == ["name: n1 -> r299", "next: invalidated -> nil", "children: [#2] -> live[#2, #4]"])
        #expect(invalidated.calls == ["isInvalidated: false -> true"])
        #expect(other.calls == [])
    }

    @Test("accessors of objects deleted long ago do not refer to later objects with the same keys N151 N75 K20")
    func reusedKeys() throws {
        let test = try TestRealm { $0.environment.changeRetention = 1 }
        let nodes = try test.nodes(3)
        try test.realm.write { nodes[0].peers.insert(nodes[2]) }
        let (held, peers) = (nodes[0], nodes[0].peers)
        #expect(peers.count == 1)
        try test.onNewThread { realm in
            try realm.write { realm.delete(realm.node(1)) }
            for round in 0..<300 { try realm.write { realm.node(3).amount = Double(round) } }
        }
        test.realm.refresh()
        try test.onNewThread { realm in
            try realm.write {
                let node = Node(id: 1, name: "new")
                realm.add(node)
                node.peers.insert(realm.node(2))
            }
        }
        test.realm.refresh()
        #expect(held.isInvalidated && peers.isInvalidated)
        let new = test.realm.node(1)
        #expect(new.name == "new" && new.peers.map(\.id) == [2])
        try test.realm.write { test.realm.delete(nodes[1]) }
        #expect(new.peers.isEmpty)
        try test.realm.write { new.peers.insert(nodes[2]) }
        #expect(new.peers.map(\.id) == [3])
    }

    @Test("an observer that a refresh calls can write, and can call refresh and invalidate K3")
    func nested() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(2)
        let recorder = nodes[0].recorder("name")
        let second = nodes[1].recorder("name")
        recorder.onCall = {
            guard recorder.calls.count == 1 else { return }
            #expect(test.realm.refresh() == false)
            test.realm.invalidate()
            try? test.realm.write { nodes[1].name = "written" }
        }
        try test.changeRemotely(1) { node, realm in
            node.name = "a"
            realm.node(2).name = "b"
        }
        test.realm.refresh()
        #expect(recorder.calls == ["name: n1 -> a"])
        #expect(second.calls.last == "name: n2 -> written" || second.calls.last == "name: b -> written")
        #expect(nodes[1].name == "written")
    }
}
