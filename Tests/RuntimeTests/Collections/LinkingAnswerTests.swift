import ConformanceModels
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// A Realm caches the linking objects of an owner until the Realm changes.
@Suite("cached linking objects") struct LinkingAnswerTests {
    private struct Links {
        /// The ids of the rows whose lists contain the node, once for each occurrence.
        var parents: [Int] = []
        var previous: [Int] = []
    }

    private static func links(_ nodes: [Node]) -> [Int: Links] {
        var links: [Int: Links] = [:]
        for node in nodes {
            for child in node.children { links[child.id, default: Links()].parents.append(node.id) }
            if let next = node.next { links[next.id, default: Links()].previous.append(node.id) }
        }
        return links
    }

    private func check(_ nodes: [Node], _ random: inout SeededRandom) {
        let links = Self.links(nodes)
        for node in nodes {
            let expected = links[node.id] ?? Links()
            // Each access creates a new collection. The second access of each kind reads the cached keys.
            for step in (0..<8).flatMap({ [$0, $0] }).shuffled(using: &random) {
                for (found, ids) in [(node.parents, expected.parents), (node.previous, expected.previous)] {
                    switch step {
                    case 0: #expect(found.count == ids.count)
                    case 1: #expect(found.first?.id == ids.first)
                    case 2: #expect(found.last?.id == ids.last)
                    case 3: #expect(found.map(\.id) == ids)
                    case 4: #expect(found.isEmpty == ids.isEmpty)
                    case 5: if !ids.isEmpty { #expect(found[ids.count / 2].id == ids[ids.count / 2]) }
                    case 6: #expect(found.contains(nodes[0]) == ids.contains(nodes[0].id))
                    default: #expect(found.index(of: nodes[1]) == ids.firstIndex(of: nodes[1].id))
                    }
                }
            }
        }
    }

    @Test("linking objects are current after every change O45", arguments: 0..<6 as Range<UInt64>)
    func changes(_ seed: UInt64) throws {
        let test = try TestRealm()
        let realm = test.realm
        var random = SeededRandom(seed: seed)
        // Some of these keys share a slot of the cache.
        let nodes = [0, 1, 2, 32, 33, 64].map { Node(id: $0) }
        try realm.write { realm.add(nodes) }
        check(nodes, &random)
        for round in 0..<25 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let ids = (0..<2).map { _ in nodes.randomElement(using: &random)?.id ?? 0 }
                try test.onNewThread { realm in
                    try realm.write {
                        let found = ids.compactMap { realm.object(ofType: Node.self, forPrimaryKey: $0) }
                        found[0].children.append(found[1])
                        found[1].next = found[0]
                    }
                }
                realm.refresh()
            default:
                try realm.beginWrite()
                for _ in 0..<3 {
                    let (one, other) = (nodes.randomElement(using: &random), nodes.randomElement(using: &random))
                    guard let one, let other else { continue }
                    if Bool.random(using: &random) { one.children.append(other) } else { one.next = other }
                    if one.children.count > 4 { one.children.removeAll() }
                    check(nodes, &random)
                }
                if Bool.random(using: &random) { realm.cancelWrite() } else { try realm.commitWrite() }
            }
            check(nodes, &random)
            if round.isMultiple(of: 8) { check(nodes.map { $0.freeze() }, &random) }
        }
    }

    @Test("a new object with the key of a deleted owner has its own linking objects O45") func reusedKey() throws {
        let test = try TestRealm()
        let (owner, parent) = (Node(id: 1), Node(id: 2))
        parent.children.append(owner)
        try test.realm.write { test.realm.add([owner, parent]) }
        #expect(owner.parents.count == 1 && owner.parents.first?.id == 2)
        let held = owner.parents
        try test.realm.write {
            test.realm.delete(owner)
            let again = Node(id: 1)
            test.realm.add(again)
            #expect(again.parents.count == 0 && again.parents.first == nil)
            parent.children.append(again)
            #expect(again.parents.count == 1 && held.count == 0 && held.first == nil)
        }
    }

    @Test("cached linking objects do not retain their owner O45") func lifetime() throws {
        let test = try TestRealm()
        try test.realm.write {
            let parent = Node(id: 2)
            test.realm.add(parent)
            parent.children.append(Node(id: 1))
        }
        weak var owner: Node?
        do {
            let found = try #require(test.realm.object(ofType: Node.self, forPrimaryKey: 1))
            owner = found
            #expect(found.parents.count == 1 && found.parents.first?.id == 2)
        }
        #expect(owner == nil)
        #expect(test.realm.object(ofType: Node.self, forPrimaryKey: 1)?.parents.count == 1)
    }
}
