import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("Key-value: invalidation")
struct KeyValueInvalidationTests {
    enum Route: CaseIterable {
        case object, results, list, all, remote, remoteAtWrite
    }

    @Test("every way to delete an object changes isInvalidated from false to true K20", arguments: Route.allCases)
    func routes(_ route: Route) throws {
        let test = try TestRealm()
        let nodes = try test.nodes(3)
        try test.realm.write { nodes[0].children.append(nodes[1]) }
        let recorder = nodes[1].recorder("isInvalidated", "name", options: [.old, .new, .prior])
        switch route {
        case .object: try test.realm.write { test.realm.delete(nodes[1]) }
        case .results: try test.realm.write { test.realm.delete(test.realm.objects(Node.self).where { $0.id == 2 }) }
        case .list: try test.realm.write { test.realm.delete(nodes[0].children) }
        case .all: try test.realm.write { test.realm.deleteAll() }
        case .remote:
            try test.changeRemotely(2) { node, realm in realm.delete(node) }
            test.realm.refresh()
        case .remoteAtWrite:
            try test.changeRemotely(2) { node, realm in realm.delete(node) }
            try test.realm.write {}
        }
        #expect(recorder.calls == ["prior isInvalidated: false -> -", "isInvalidated: false -> true"])
        #expect(nodes[1].isInvalidated)
        nodes[1].removeObserver(recorder, forKeyPath: "isInvalidated")
        nodes[1].removeObserver(recorder, forKeyPath: "name")
        #expect(test.realm.context.keyValue.objects.isEmpty)
    }

    @Test(
        "an observer of a path to an embedded object is notified when the owner is deleted K20 K24",
        arguments: [true, false])
    func embedded(isRemote: Bool) throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        try test.realm.write { node.part = Part(name: "p") }
        let recorder = node.recorder("part.isInvalidated")
        if isRemote {
            try test.changeRemotely(1) { node, realm in realm.delete(node) }
            test.realm.refresh()
        } else {
            try test.realm.write { test.realm.delete(node) }
        }
        #expect(recorder.calls == ["part.isInvalidated: false -> true"])
    }

    @Test("isInvalidated of a collection changes when its owner is invalidated K20 K23", arguments: [0, 1, 2])
    func ofCollection(_ route: Int) throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        let recorder = node.recorder("children.isInvalidated", "peers.isInvalidated", "named.isInvalidated")
        var calls: [String] = []
        func add(_ change: KeyValueObservedChange<Bool>) {
            calls.append("\(change.oldValue.map { "\($0)" } ?? "-") -> \(change.newValue.map { "\($0)" } ?? "-")")
        }
        let tokens = [
            node.observe(\.children.isInvalidated, options: .both) { add($1) },
            node.observe(\.peers.isInvalidated, options: .both) { add($1) },
        ]
        try test.realm.write {
            node.children.append(node)
            node.peers.insert(node)
            node.named["a"] = node
        }
        #expect(recorder.calls.isEmpty && calls.isEmpty)
        switch route {
        case 0: try test.realm.write { test.realm.delete(node) }
        case 1:
            try test.changeRemotely(1) { node, realm in realm.delete(node) }
            test.realm.refresh()
        default: test.realm.invalidate()
        }
        #expect(
            recorder.calls == [
                "children.isInvalidated: false -> true", "peers.isInvalidated: false -> true",
                "named.isInvalidated: false -> true",
            ])
        #expect(calls == ["false -> true", "false -> true"])
        withExtendedLifetime(tokens) {}
    }

    @Test("a new row with the key of a deleted row has no observers K20", arguments: [true, false])
    func replaced(isRemote: Bool) throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        let children = node.children
        let recorder = node.recorder("isInvalidated", "name")
        func replace(_ realm: Realm) {
            realm.delete(realm.node(1))
            realm.add(Node(id: 1, name: "new"))
            realm.node(1).children.append(realm.node(1))
        }
        if isRemote {
            try test.changeRemotely(1) { _, realm in replace(realm) }
            test.realm.refresh()
        } else {
            try test.realm.write { replace(test.realm) }
        }
        #expect(recorder.calls == ["isInvalidated: false -> true"])
        #expect(children.isInvalidated && test.realm.node(1).children.count == 1)
        try test.realm.write { test.realm.node(1).name = "unobserved" }
        #expect(recorder.calls.count == 1)
    }

    @Test("observers of a row that a cascade deletes are notified only of isInvalidated K20")
    func cascade() throws {
        let test = try TestRealm()
        let (owner, treasure) = (Owner(id: 1), Treasure(id: 1))
        try test.realm.write {
            test.realm.add(owner)
            owner.treasure = treasure
        }
        let recorder = owner.recorder("isInvalidated", "treasure")
        try test.realm.write { test.realm.delete(treasure) }
        #expect(recorder.calls == ["isInvalidated: false -> true"])
    }

    @Test("deleting a linked object is reported as nil for links, a removal for lists, a setting for sets and maps K21")
    func linked() throws {
        for isRemote in [false, true] {
            let test = try TestRealm()
            let nodes = try test.nodes(3)
            try test.realm.write {
                nodes[0].next = nodes[1]
                nodes[0].children.append(objectsIn: [nodes[1], nodes[2], nodes[1]])
                nodes[0].peers.insert(nodes[1])
                nodes[0].named["k"] = nodes[1]
            }
            let recorder = nodes[0].recorder("next", "children", "peers", "named", options: [])
            let links = nodes[0].recorder("next", options: [.new])
            if isRemote {
                try test.changeRemotely(2) { node, realm in realm.delete(node) }
                test.realm.refresh()
            } else {
                try test.realm.write { test.realm.delete(nodes[1]) }
            }
            #expect(recorder.calls.sorted() == ["children removal 0,2", "named", "next", "peers"])
            #expect(links.calls == ["next: - -> nil"])
        }
    }

    @Test("deleting the owner of a list only invalidates the list K22", arguments: [true, false])
    func listOwner(isRemote: Bool) throws {
        let test = try TestRealm()
        let nodes = try test.nodes(2)
        try test.realm.write { nodes[0].children.append(nodes[1]) }
        let recorder = nodes[0].recorder("children")
        let list = nodes[0].children
        var log: [String] = []
        let token = list.observe(\.isInvalidated, options: [.old, .new, .prior, .initial]) { list, change in
            log.append("\(change.isPrior) \(change.oldValue as Any) \(change.newValue as Any) \(list.isInvalidated)")
        }
        if isRemote {
            try test.changeRemotely(1) { node, realm in realm.delete(node) }
            test.realm.refresh()
        } else {
            try test.realm.write { test.realm.delete(nodes[0]) }
        }
        #expect(recorder.calls == [])
        #expect(
            log == [
                "false nil Optional(false) false", "true Optional(false) nil false",
                "false Optional(false) Optional(true) true",
            ])
        token.invalidate()
        #expect(test.realm.context.keyValue.collections.isEmpty)
    }

    @Test("realm.invalidate() invalidates objects and collections K23")
    func invalidate() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(2)
        let recorder = nodes[0].recorder("isInvalidated", "name", "children")
        var log: [String] = []
        var tokens: [KeyValueObservation] = []
        tokens.append(
            nodes[0].children.observe(\.isInvalidated) { list, _ in log.append("list \(list.isInvalidated)") })
        tokens.append(nodes[0].peers.observe(\.isInvalidated) { set, _ in log.append("set \(set.isInvalidated)") })
        tokens.append(nodes[0].named.observe(\.isInvalidated) { map, _ in log.append("map \(map.isInvalidated)") })
        test.realm.invalidate()
        #expect(recorder.calls == ["isInvalidated: false -> true"])
        #expect(log == ["list true", "set true", "map true"])
        withExtendedLifetime(tokens) {}
    }

    @Test("a key-value observer that realm.invalidate() calls cannot refresh or invalidate the Realm N31 N32 K23")
    func refreshDuringInvalidation() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(2)
        var results: [Bool] = []
        var inserted: [Int] = []
        let token = test.realm.objects(Node.self).observe { change in
            if case .update(_, _, let insertions, _) = change { inserted += insertions }
        }
        test.deliverAll()
        let tokens = nodes.map { node in
            node.observe(\.isInvalidated) { _, _ in
                try? test.changeRemotely(1) { _, realm in realm.create(Node.self, value: ["id": 10 + results.count]) }
                results.append(test.realm.refresh())
                test.realm.invalidate()
            }
        }
        test.realm.invalidate()
        #expect(results == [false, false])
        #expect(inserted == [])
        test.deliverAll()
        #expect(inserted == [2, 3])
        withExtendedLifetime((token, tokens)) {}
    }

    @Test("an embedded object that is replaced or removed becomes invalidated K24")
    func embedded() throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        let invalidation = "isInvalidated: false -> true"
        // Adds an embedded object with `place`, and expects that `remove` invalidates it.
        func check(_ place: (Part) -> Void, _ remove: () -> Void, _ what: String) throws {
            var recorder: KeyValueRecorder?
            var held: Part?
            try test.realm.write {
                let part = Part(name: "p")
                place(part)
                recorder = part.recorder("isInvalidated")
                held = part
            }
            try test.realm.write { remove() }
            #expect(recorder?.calls == [invalidation], "\(what)")
            #expect(held?.isInvalidated == true, "\(what)")
        }
        try check({ node.part = $0 }, { node.part = Part(name: "q") }, "replaced")
        #expect(node.part?.name == "q")
        try check({ node.part = $0 }, { node.part = nil }, "set to nil")
        #expect(node.part == nil)
        try check({ node.parts.append($0) }, { node.parts.remove(at: 0) }, "removed from its list")
        try check({ node.parts.append($0) }, { node.parts[0] = Part(name: "q") }, "overwritten in its list")
        try check({ node.parts.append($0) }, { node.parts.removeAll() }, "list cleared")
        try check({ node.parts = [$0] }, { node.parts = [Part(name: "q")] }, "list assigned")
        #expect(node.parts.map(\.name) == ["q"])
        try check({ node.partsByName["k"] = $0 }, { node.partsByName["k"] = Part(name: "q") }, "overwritten in its map")
        try check({ node.partsByName["k"] = $0 }, { node.partsByName.removeObject(for: "k") }, "removed from its map")
        try check(
            { node.part = $0 },
            {
                test.realm.create(
                    Node.self, value: ["id": 1, "part": Part?.none as Any] as [String: Any], update: .all)
            },
            "create with nil")
        try check({ node.part = $0 }, { node.setValue(Part(name: "r"), forKey: "part") }, "replaced by name")
        #expect(node.part?.name == "r")
        try check({ node.part = $0 }, { test.realm.delete(node) }, "owner deleted")
    }

    @Test("observers of the owner are notified once of a replaced embedded object K24")
    func embeddedOwner() throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        let recorder = node.recorder("part", "part.name")
        try test.realm.write {
            node.part = Part(name: "a")
            node.part = Part(name: "b")
            node.part?.name = "c"
            node.part = nil
        }
        let expected = [
            "part: nil -> a", "part.name: nil -> a", "part: a -> b", "part.name: a -> b", "part.name: b -> c",
            "part: c -> nil",
            "part.name: c -> nil",
        ]
        #expect(recorder.calls == expected)
    }

    @Test("an embedded object that another Realm removes becomes invalidated K24")
    func embeddedRemotely() throws {
        let test = try TestRealm()
        let node = try test.nodes(1)[0]
        try test.realm.write { node.part = Part(name: "p") }
        let part = try #require(node.part)
        let recorder = part.recorder("isInvalidated")
        try test.changeRemotely(1) { node, _ in node.part = Part(name: "q") }
        test.realm.refresh()
        #expect(recorder.calls == ["isInvalidated: false -> true"])
        #expect(node.part?.name == "q")
    }
}
