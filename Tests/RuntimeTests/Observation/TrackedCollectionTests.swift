import ConformanceModels
import Foundation
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// A reader is a closure that reads in `withObservationTracking`. A call of its `onChange` notifies the reader.
@Suite("tracked reads: collections")
struct TrackedCollectionTests {
    @Test(
        "inserting, removing or replacing elements of a list, set or map notifies the readers of the collection N164"
    )
    func elements() throws {
        let (test, nodes) = try trackedNodes()
        let node = nodes[0]
        let (children, peers, named) = (node.children, node.peers, node.named)
        let reads: [(name: String, read: () -> Void, change: () -> Void)] = [
            ("count", { _ = node.children.count }, { children.append(nodes[2]) }),
            ("count of a held list", { _ = children.count }, { children.removeLast() }),
            ("element", { _ = children[0] }, { children.swapAt(0, 1) }),
            ("iteration", { for _ in children {} }, { children.move(from: 0, to: 1) }),
            ("replaced", { _ = children.first }, { children.replace(index: 0, object: nodes[1]) }),
            ("assigned", { _ = children.last }, { node.children = [nodes[1], nodes[2]] }),
            ("set", { _ = peers.contains(nodes[2]) }, { peers.insert(nodes[2]) }),
            ("iteration of a set", { for _ in node.peers {} }, { peers.remove(nodes[2]) }),
            ("key", { _ = named["b"] }, { named["b"] = nodes[2] }),
            ("keys", { _ = node.named.keys }, { named.removeObject(for: "b") }),
            ("sections", { _ = children.sectioned(by: { $0.name }).count }, { children.removeAll() }),
        ]
        for (name, read, change) in reads {
            try #expect(onChangeCalls(read) { try test.realm.write { change() } } == 1, "\(name)")
            try #expect(
                onChangeCalls(read) { try test.realm.write { (node.amount, nodes[1].amount) = (3, 7) } } == 0,
                "\(name)")
        }
    }

    @Test("a remote change of a collection notifies readers before the Realm advances N164")
    func remote() throws {
        let (test, nodes) = try trackedNodes()
        let children = nodes[0].children
        let count = try onChangeCalls {
            _ = children.count
        } _: {
            try test.changeRemotely(1) { node, _ in node.children.removeAll() }
            #expect(children.count == 2)
            test.realm.refresh()
        }
        #expect(count == 1)
        #expect(children.isEmpty)
    }

    @Test("deleting the owner of a collection notifies readers")
    func owner() throws {
        let (test, nodes) = try trackedNodes()
        let children = nodes[0].children
        try #expect(
            onChangeCalls {
                _ = children.isInvalidated
            } _: {
                try test.realm.write { test.realm.delete(nodes[0]) }
            } == 1)
        #expect(children.isInvalidated)
    }

    @Test("results notify readers of changes that may affect the results, and of no other changes N164")
    func results() throws {
        let (test, nodes) = try trackedNodes()
        let realm = test.realm
        let all = realm.objects(Node.self)
        func add(_ id: Int) throws { try realm.write { realm.add(Node(id: id)) } }
        func change(_ body: () -> Void) throws { try realm.write { body() } }
        try #expect(
            onChangeCalls {
                _ = all.count
            } _: {
                try add(10)
            } == 1)
        try #expect(
            onChangeCalls {
                _ = all.count
            } _: {
                try change { nodes[0].name = "a" }
            } == 0)
        let filtered = all.where { $0.amount > 1 }
        try #expect(
            onChangeCalls {
                _ = filtered.count
            } _: {
                try change { nodes[0].name = "b" }
            } == 0)
        try #expect(
            onChangeCalls {
                _ = filtered.count
            } _: {
                try change { nodes[0].amount = 5 }
            } == 1)
        let sorted = all.sorted(byKeyPath: "name")
        try #expect(
            onChangeCalls {
                _ = sorted.first
            } _: {
                try change { nodes[0].amount = 6 }
            } == 0)
        try #expect(
            onChangeCalls {
                _ = sorted.first
            } _: {
                try change { nodes[0].name = "c" }
            } == 1)
        let linked = all.where { $0.next.name == "n2" }
        try #expect(
            onChangeCalls {
                for _ in linked {}
            } _: {
                try change { nodes[1].name = "d" }
            } == 1)
        try #expect(
            onChangeCalls {
                _ = linked.isEmpty
            } _: {
                try change { nodes[0].next = nil }
            } == 1)
        try #expect(
            onChangeCalls {
                _ = linked.isEmpty
            } _: {
                try add(11)
            } == 1)
        let sum = { _ = all.sum(of: \.amount) as Double }
        try #expect(onChangeCalls(sum) { try change { nodes[2].amount = 3 } } == 1)
        try #expect(onChangeCalls(sum) { try change { nodes[2].name = "e" } } == 0)
        let sections = all.sectioned(by: { $0.name })
        _ = sections.count
        try #expect(
            onChangeCalls {
                _ = sections.allKeys
            } _: {
                try change { nodes[2].name = "f" }
            } == 1)
    }

    @Test("results of lists and linking objects notify readers when the list changes or the object is deleted N164")
    func dependent() throws {
        let (test, nodes) = try trackedNodes()
        func change(_ body: () -> Void) throws { try test.realm.write { body() } }
        let some = nodes[0].children.where { $0.amount == 0 }
        try #expect(
            onChangeCalls {
                _ = some.count
            } _: {
                try change { nodes[0].children.removeLast() }
            } == 1)
        let parents = nodes[1].parents
        try #expect(
            onChangeCalls {
                _ = parents.count
            } _: {
                try change { nodes[0].children.removeAll() }
            } == 1)
        try #expect(
            onChangeCalls {
                _ = nodes[1].previous.first
            } _: {
                try change { nodes[0].next = nil }
            } == 1)
        try #expect(
            onChangeCalls {
                _ = parents.isInvalidated
            } _: {
                try change { test.realm.delete(nodes[1]) }
            } == 1)
    }

    @Test("a lookup that found no object notifies readers when the object is added")
    func absent() throws {
        let test = try TestRealm { $0.tracksReads = true }
        let read = { _ = test.realm.object(ofType: Node.self, forPrimaryKey: 1) }
        try #expect(onChangeCalls(read) { _ = try test.nodes(1) } == 1)
        try #expect(onChangeCalls(read) { try test.realm.write { test.realm.add(Node(id: 2)) } } == 0)
        try #expect(
            onChangeCalls {
                _ = test.realm.isEmpty
            } _: {
                try test.realm.write { test.realm.deleteAll() }
            } == 1)
    }

    // MARK: Random changes

    private static let reads: [@Sendable (Realm) -> String] = [
        { realm in realm.objects(Node.self).map { "\($0.id)" }.joined(separator: ",") },
        { realm in realm.objects(Node.self).map(\.name).joined(separator: ",") },
        { realm in realm.object(ofType: Node.self, forPrimaryKey: 3)?.name ?? "-" },
        { realm in realm.object(ofType: Node.self, forPrimaryKey: 2).map { "\($0.children.count)" } ?? "-" },
        { realm in realm.objects(Node.self).where { $0.amount > 3 }.map { "\($0.id)" }.joined(separator: ",") },
        { realm in realm.objects(Node.self).sorted(byKeyPath: "amount").first.map { "\($0.id)" } ?? "-" },
        { realm in realm.objects(Node.self).where { $0.next.amount > 3 }.map { "\($0.id)" }.joined(separator: ",") },
        { realm in realm.objects(Node.self).where { $0.children.name == "b" }.map { "\($0.id)" }.joined(separator: ",")
        },
        { realm in realm.objects(Node.self).where { $0.parents.amount > 3 }.map { "\($0.id)" }.joined(separator: ",") },
        { realm in realm.objects(Node.self).where { $0.peers.count > 1 }.map { "\($0.id)" }.joined(separator: ",") },
        { realm in realm.objects(Node.self).map { "\($0.next?.name ?? "-")" }.joined(separator: ",") },
        { realm in realm.objects(Node.self).map { "\($0.parents.count) \($0.previous.count)" }.joined(separator: ",") },
        { realm in realm.objects(Node.self).map { "\($0.named["a"].flatMap { $0 }?.id ?? 0)" }.joined(separator: ",") },
        { realm in realm.objects(Node.self).map { "\($0.part?.name ?? "-") \($0.parts.count)" }.joined(separator: ",")
        },
        { realm in "\(realm.objects(Node.self).sum(of: \.amount) as Double)" },
        { realm in
            realm.objects(Node.self).sectioned(by: { $0.name }).map { "\($0.key ?? "-") \($0.count)" }.joined(
                separator: ",")
        },
        { realm in
            realm.objects(Node.self).filter("@links.Node.next.amount > 3").map { "\($0.id)" }.joined(separator: ",")
        },
    ]

    private static func change(_ realm: Realm, _ seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
        for _ in 0...number(3) {
            let id = 1 + number(6)
            guard let node = realm.object(ofType: Node.self, forPrimaryKey: id) else {
                realm.add(Node(id: id, name: "ab".map(String.init)[number(2)], amount: Double(number(6))))
                continue
            }
            let other = realm.objects(Node.self)[number(realm.objects(Node.self).count)]
            switch number(14) {
            case 0: realm.delete(node)
            case 1, 2: node.name = ["a", "b", "c"][number(3)]
            case 3, 4: node.amount = Double(number(6))
            case 5: node.next = number(3) == 0 ? nil : other
            case 6: node.children.append(other)
            case 7: node.children.removeAll()
            case 8: node.peers.insert(other)
            case 9: node.peers.remove(other)
            case 10: node.named["a"] = .some(number(2) == 0 ? nil : other)
            case 11: node.part = number(2) == 0 ? nil : Part(name: "p\(number(3))")
            case 12: node.parts.append(Part(name: "q"))
            default: realm.create(Node.self, value: ["id": id, "name": "d"], update: .modified)
            }
        }
    }

    @Test("every reader whose value is changed by random changes is notified N164", arguments: 0..<6)
    func random(seed: Int) throws {
        let test = try TestRealm { $0.tracksReads = true }
        _ = try test.nodes(4)
        var random = SeededRandom(seed: UInt64(seed))
        var (notified, notNotified) = (0, 0)
        for step in 0..<60 {
            var before: [String] = []
            let counters = Self.reads.map { read in
                let counter = OnChangeCounter()
                counter.track { before.append(read(test.realm)) }
                return counter
            }
            let change = seed * 1000 + step
            switch Int.random(in: 0..<4, using: &random) {
            case 0: try test.realm.write { Self.change(test.realm, change) }
            case 1:
                try test.onNewThread { realm in try realm.write { Self.change(realm, change) } }
                test.realm.refresh()
            case 2:
                try test.onNewThread { realm in try realm.write { Self.change(realm, change) } }
                try test.realm.write { Self.change(test.realm, change + 1) }
            default:
                try test.realm.beginWrite()
                Self.change(test.realm, change)
                test.realm.cancelWrite()
            // The rollback restores the values, so `onChange` may be called or not.
            }
            for (number, read) in Self.reads.enumerated() where read(test.realm) != before[number] {
                if counters[number].count == 0 { Issue.record("reader \(number) was not notified at step \(step)") }
            }
            notified += counters.count { $0.count > 0 }
            notNotified += counters.count { $0.count == 0 }
            #expect(counters.allSatisfy { $0.count < 2 })
        }
        // Random changes must notify many readers, and must also leave many readers unnotified.
        #expect(notified > 100 && notNotified > 100)
    }
}
