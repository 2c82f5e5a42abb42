import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Observation
import Testing

@testable import Martlet

/// Observers and closures that change a value or a collection while another change is in progress.
@Suite("Key-value: changes during another change")
struct KeyValueInterferenceTests {
    /// Returns the keys of the stored parts.
    private static func parts(_ test: TestRealm) throws -> [Int64] {
        let context = test.realm.context
        let table = try #require(context.table(named: "Part"))
        return context.read { try table.rows.keys($0) }
    }

    /// Describes a node as another Realm reads it.
    private func contents(_ test: TestRealm, _ id: Int) throws -> String {
        var text = ""
        try test.onNewThread { realm in
            let node = try #require(realm.object(ofType: Node.self, forPrimaryKey: id))
            text =
                "\(node.name) \(node.amount) \(node.next?.id ?? 0) \(node.children.map(\.id)) "
                + node.named.map { "\($0.key): \($0.value?.id ?? 0)" }.sorted().joined(separator: ", ")
        }
        return text
    }

    // MARK: Programs that trap

    /// A program that traps, and a part of its message.
    private struct Trap: Sendable {
        let name: String
        let message: String
        let program: @Sendable (TestRealm, [Node]) throws -> Void
    }

    private static func trap(
        _ name: String, _ message: String, _ program: @escaping @Sendable (TestRealm, [Node]) throws -> Void
    ) -> Trap { Trap(name: name, message: message, program: program) }

    private static let traps: [Trap] = [
        trap("assign in a prior call", "called before a change") { test, nodes in
            let token = nodes[0].observe(\.name, options: [.prior]) { node, _ in node.amount = 5 }
            try test.realm.write { nodes[0].name = "x" }
            token.invalidate()
        },
        trap("delete the element that is being appended", "called before a change") { test, nodes in
            let token = nodes[0].observe(\.children, options: [.prior]) { _, _ in test.realm.delete(nodes[1]) }
            try test.realm.write { nodes[0].children.append(nodes[1]) }
            token.invalidate()
        },
        trap("change another list when a write begins", "called before a change") { test, nodes in
            let token = nodes[0].observe(\.name, options: [.prior]) { _, change in
                if change.isPrior { nodes[1].children.append(nodes[2]) }
            }
            try test.changeRemotely(1) { node, _ in node.name = "r" }
            try test.realm.write {}
            token.invalidate()
        },
        trap("assign while a write is cancelled", "called before a change") { test, nodes in
            try test.realm.beginWrite()
            nodes[0].name = "a"
            let token = nodes[0].observe(\.name, options: [.prior]) { _, _ in nodes[1].name = "b" }
            test.realm.cancelWrite()
            token.invalidate()
        },
        trap("add an object while a write is cancelled", "called before a change") { test, nodes in
            try test.realm.beginWrite()
            nodes[0].name = "a"
            let token = nodes[0].observe(\.name, options: [.prior]) { _, _ in test.realm.add(Node(id: 9)) }
            test.realm.cancelWrite()
            token.invalidate()
        },
        trap("delete an object that is being linked", "the 'Node' with the key 2 was deleted") { test, nodes in
            let token = nodes[2].observe(\.name) { _, _ in test.realm.delete(nodes[1]) }
            let children = [Node(id: 2), Node(id: 3, name: "z")]
            try test.realm.write { test.realm.add(Node(id: 10, children: children), update: .modified) }
            token.invalidate()
        },
        trap("delete the target of an object that is being added", "the 'Node' with the key 2 was deleted") {
            test, nodes in
            let token = nodes[2].observe(\.name) { _, _ in test.realm.delete(nodes[1]) }
            let part = Part(node: Node(id: 3, name: "z"))
            try test.realm.write { test.realm.add(Node(id: 10, next: nodes[1], part: part), update: .modified) }
            token.invalidate()
        },
        trap("link to the object that is being deleted", "was linked by an observer") { test, nodes in
            try test.realm.write { nodes[0].next = nodes[2] }
            let token = nodes[0].observe(\.next) { _, _ in nodes[1].next = nodes[2] }
            try test.realm.write { test.realm.delete(nodes[2]) }
            token.invalidate()
        },
        trap("append the object that is being deleted", "was linked by an observer") { test, nodes in
            try test.realm.write { nodes[0].next = nodes[2] }
            let token = nodes[0].observe(\.next) { _, _ in nodes[1].children.append(nodes[2]) }
            try test.realm.write { test.realm.delete(nodes[2]) }
            token.invalidate()
        },
        trap("commit when an embedded object is removed", "an observer committed the write") { test, nodes in
            try test.realm.write { nodes[0].part = Part(name: "p") }
            let token = nodes[0].observe(\.part) { _, _ in try? test.realm.commitWrite() }
            try test.realm.beginWrite()
            nodes[0].part = nil
            token.invalidate()
        },
        trap("commit when embedded objects are removed from a list", "an observer committed the write") { test, nodes in
            try test.realm.write { nodes[0].parts.append(Part(name: "p")) }
            let token = nodes[0].observe(\.parts) { _, _ in try? test.realm.commitWrite() }
            try test.realm.beginWrite()
            nodes[0].parts.removeAll()
            token.invalidate()
        },
        trap("edit between the removal and the insertion of a replacement", "during another change") { test, nodes in
            try test.realm.write { nodes[0].children.append(objectsIn: nodes) }
            let token = nodes[0].observe(\.children) { node, change in
                if change.kind == .removal { node.children.insert(nodes[0], at: 0) }
            }
            try test.realm.write { nodes[0].children.replaceSubrange(1..<2, with: [nodes[3]]) }
            token.invalidate()
        },
        trap("edit between two moves", "during another change") { test, nodes in
            try test.realm.write { nodes[0].children.append(objectsIn: nodes) }
            let token = nodes[0].observe(\.children) { node, change in
                if node.children.count == 4 { node.children.insert(nodes[0], at: 0) }
            }
            try test.realm.write { nodes[0].children.move(fromOffsets: [0, 1], toOffset: 4) }
            token.invalidate()
        },
        trap("edit a list while its embedded objects are updated", "during another change") { test, nodes in
            try test.realm.write { nodes[0].parts.append(objectsIn: [Part(name: "p"), Part(name: "q")]) }
            let token = nodes[0].parts[1].observe(\.name) { _, _ in nodes[0].parts.remove(at: 0) }
            let value: [String: Any] = ["id": 1, "parts": [["name": "x"], ["name": "y"]]]
            try test.realm.write { _ = test.realm.create(Node.self, value: value, update: .modified) }
            token.invalidate()
        },
        trap("remove an element in the closure of sort", "during another change") { test, nodes in
            try test.realm.write {
                nodes[0].children.append(objectsIn: nodes)
                nodes[0].children.sort { left, right in
                    if nodes[0].children.count == 4 { nodes[0].children.removeLast() }
                    return left.id > right.id
                }
            }
        },
        trap("append an element in the closure of partition", "during another change") { test, nodes in
            try test.realm.write {
                nodes[0].children.append(objectsIn: nodes)
                nodes[0].children.partition { node in
                    nodes[0].children.append(node)
                    return node.id == 2
                }
            }
        },
        trap("reverse the list in the closure of removeAll", "during another change") { test, nodes in
            try test.realm.write {
                nodes[0].children.append(objectsIn: nodes)
                nodes[0].children.removeAll { node in
                    if node.id == 1 { nodes[0].children.reverse() }
                    return node.id == 1
                }
            }
        },
        trap("change an unmanaged list in a prior call", "called before a change") { _, _ in
            let node = Node(id: 1)
            node.children.append(node)
            let token = node.observe(\.children, options: [.prior]) { node, _ in node.children.removeAll() }
            node.children.remove(at: 0)
            token.invalidate()
        },
        trap("change an unmanaged map in a prior call", "called before a change") { _, _ in
            let node = Node(id: 1)
            let token = node.observe(\.named, options: [.prior]) { node, _ in node.named["a"] = node }
            node.named["b"] = node
            token.invalidate()
        },
    ]

    @Test(
        "a change or commit by an observer or closure traps if it conflicts with the change in progress K8 K20",
        arguments: traps.indices)
    func trap(_ index: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [index] in
            let test = try TestRealm()
            try KeyValueInterferenceTests.traps[index].program(test, test.nodes(4))
        }
        let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        #expect(text.contains(Self.traps[index].message), "\(Self.traps[index].name): \(text)")
    }

    @Test("changing or ending the write in 'onChange' of a tracked read traps N160", arguments: [false, true])
    func tracked(commits: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [commits] in
            nonisolated(unsafe) let test = try TestRealm { $0.tracksReads = true }
            nonisolated(unsafe) let nodes = try test.nodes(3)
            try test.realm.write { nodes[0].next = nodes[2] }
            withObservationTracking {
                _ = test.realm.objects(Node.self).count
            } onChange: {
                if commits { try? test.realm.commitWrite() } else { test.realm.delete(nodes[2]) }
            }
            try test.realm.write { nodes[0].next = Node(id: 20) }
        }
        let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        let message =
            commits
            ? "an observer committed the write transaction while a change was in progress"
            : "an observer that was called before a change"
        #expect(text.contains(message), "\(text)")
    }

    // MARK: Programs that do not trap

    @Test("an unmanaged object keeps what an observer assigns in a prior call K8")
    func unmanaged() {
        let node = Node(id: 1)
        let token = node.observe(\.name, options: [.prior]) { node, change in if change.isPrior { node.amount = 5 } }
        node.setValue("x", forKey: "name")
        #expect(node.amount == 5 && node.name == "x")
        token.invalidate()
    }

    @Test("an update stores its map entry even if observers change the map during the update O44")
    func map() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(5)
        var token = nodes[2].observe(\.name) { _, _ in nodes[0].named["b"] = nodes[3] }
        let value = Node(id: 1, name: "n1", named: ["b": Node(id: 3, name: "z")])
        try test.realm.write { test.realm.add(value, update: .modified) }
        #expect(try contents(test, 1) == "n1 0.0 0 [] b: 3")
        token.invalidate()
        try test.realm.write {
            nodes[0].named.removeAll()
            for (key, node) in [("x", nodes[1]), ("b", nodes[2]), ("a", nodes[3])] { nodes[0].named[key] = node }
        }
        token = nodes[2].observe(\.name) { _, _ in nodes[0].named.removeObject(for: "x") }
        let named: [String: Node?] = ["a": nodes[3], "b": Node(id: 3, name: "y"), "x": nodes[1]]
        try test.realm.write { test.realm.add(Node(id: 1, name: "n1", named: named), update: .modified) }
        let map = try contents(test, 1)
        #expect(map == "n1 0.0 0 [] a: 4, b: 3" || map == "n1 0.0 0 [] a: 4, b: 3, x: 2")
        token.invalidate()
    }

    @Test("a deletion keeps a link that an observer assigns to another object during the deletion K20")
    func relink() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(4)
        try test.realm.write {
            nodes[0].next = nodes[2]
            nodes[1].next = nodes[2]
        }
        let token = nodes[0].observe(\.next) { _, _ in nodes[1].next = nodes[3] }
        try test.realm.write { test.realm.delete(nodes[2]) }
        #expect(nodes[0].next == nil && nodes[1].next?.id == 4)
        #expect(try contents(test, 2) == "n2 0.0 4 [] ")
        token.invalidate()
    }

    @Test(
        "while an object is deleted, observers can delete other objects that link to it K20", arguments: [false, true])
    func deleteHolder(several: Bool) throws {
        let test = try TestRealm()
        let nodes = try test.nodes(5)
        try test.realm.write {
            nodes[0].children.append(nodes[2])
            nodes[1].children.append(nodes[2])
        }
        let token = nodes[0].observe(\.children) { _, _ in
            if !nodes[1].isInvalidated { test.realm.delete(nodes[1]) }
        }
        try test.realm.write { test.realm.delete(several ? [nodes[2], nodes[4]] : [nodes[2]]) }
        #expect(test.realm.objects(Node.self).map(\.id) == (several ? [1, 4] : [1, 4, 5]))
        #expect(try contents(test, 1) == "n1 0.0 0 [] ")
        token.invalidate()
    }

    @Test("an embedded object that an observer assigns to an object during its deletion is deleted too K20 K24")
    func embedded() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(3)
        try test.realm.write { nodes[0].next = nodes[2] }
        let token = nodes[0].observe(\.next) { _, _ in
            if !nodes[2].isInvalidated { nodes[2].part = Part(name: "o") }
        }
        try test.realm.write { test.realm.delete(nodes[2]) }
        #expect(try Self.parts(test) == [])
        token.invalidate()
    }

    @Test("an observer is not called for an object that another observer has deleted K10", arguments: [false, true])
    func deletedByFirst(isList: Bool) throws {
        let test = try TestRealm()
        let nodes = try test.nodes(2)
        var calls = 0
        let tokens =
            isList
            ? [
                nodes[0].observe(\.children) { node, _ in test.realm.delete(node) },
                nodes[0].observe(\.children, options: [.new]) { _, _ in calls += 1 },
            ]
            : [
                nodes[0].observe(\.name) { node, _ in test.realm.delete(node) },
                nodes[0].observe(\.name, options: [.new]) { _, _ in calls += 1 },
            ]
        try test.realm.write { if isList { nodes[0].children.append(nodes[1]) } else { nodes[0].name = "x" } }
        #expect(calls == 0 && test.realm.objects(Node.self).map(\.id) == [2])
        tokens.forEach { $0.invalidate() }
    }

    @Test("a delivery inside a prior call does not move the Realm to another version N27 O14")
    func nestedRunLoop() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(1)
        var values: [String] = []
        var isDone = false
        let token = nodes[0].observe(\.name, options: [.prior, .new]) { _, change in
            guard change.isPrior else { return values.append(change.newValue ?? "") }
            if isDone { return }
            isDone = true
            #expect(throws: Never.self) { try test.changeRemotely(1) { node, _ in node.name = "second" } }
            while test.scheduler.waitForWork(seconds: 0.2) { test.scheduler.run() }
        }
        try test.changeRemotely(1) { node, _ in node.name = "first" }
        while test.scheduler.waitForWork(seconds: 0.2) { test.scheduler.run() }
        #expect(nodes[0].name == "second" && values == ["first", "second"])
        token.invalidate()
    }

    @Test(
        "an observer called by the rollback of a denied write can write, and other observers are called once K4 O14",
        arguments: [false, true])
    func afterDenial(leavesOpen: Bool) throws {
        let test = try TestRealm()
        let nodes = try test.nodes(2)
        let (owner, treasure) = (Owner(id: 1), Treasure(id: 1))
        try test.realm.write {
            test.realm.add(owner)
            owner.guarded = treasure
        }
        var calls = 0
        var isDone = false
        let tokens = [
            nodes[1].observe(\.name) { _, _ in calls += 1 },
            nodes[0].observe(\.name) { _, _ in
                if isDone || test.realm.isInWriteTransaction { return }
                isDone = true
                #expect(throws: Never.self) {
                    try test.realm.beginWrite()
                    nodes[1].name = "after"
                    if !leavesOpen { try test.realm.commitWrite() }
                }
            },
        ]
        #expect(throws: Realm.Error.self) {
            try test.realm.write {
                nodes[0].name = "x"
                test.realm.delete(treasure)
            }
        }
        #expect(test.realm.isInWriteTransaction == leavesOpen)
        #expect(test.realm.objects(Node.self).where { $0.name == "after" }.count == 1)
        if leavesOpen { try test.realm.commitWrite() }
        #expect(calls == 1)
        #expect(try contents(test, 2) == "after 0.0 0 [] ")
        tokens.forEach { $0.invalidate() }
    }

    @Test("a set can be assigned although observers remove its elements during the assignment O43 K16")
    func set() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(5)
        try test.realm.write { nodes[0].peers.insert(objectsIn: nodes[1...3]) }
        let token = nodes[0].observe(\.peers) { node, _ in
            node.peers.remove(nodes[1])
            node.peers.remove(nodes[2])
        }
        let value: [String: Any] = ["id": 1, "peers": [Node]()]
        try test.realm.write { _ = test.realm.create(Node.self, value: value, update: .modified) }
        #expect(nodes[0].peers.isEmpty)
        token.invalidate()
    }

    @Test("an observer can remove itself in its initial call K9 K8", arguments: [true, false])
    func removedInitially(isManaged: Bool) throws {
        let test = try TestRealm()
        let node = Node(id: 1)
        if isManaged { try test.realm.write { test.realm.add(node) } }
        let recorder = KeyValueRecorder()
        recorder.onCall = { node.removeObserver(recorder, forKeyPath: "amount") }
        node.addObserver(recorder, forKeyPath: "amount", options: [.initial, .new])
        if isManaged { try test.realm.write { node.amount = 1 } } else { node.amount = 1 }
        #expect(recorder.calls.count == 1)
    }
}
