import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Loops whose bodies change the collection, for every kind of collection.
@Suite struct LoopTests {
    /// Creates the nodes 0 to 9. Node 0 has the children 1 to 9, and 1 again. Its set and its map contain the nodes 1
    /// to 9. Each of these nodes links to node 0 and has node 0 as a child.
    private func start() throws -> (test: TestRealm, node: Node) {
        let test = try TestRealm()
        let nodes = (0..<10).map { Node(id: $0, name: $0 < 5 ? "a" : "b") }
        try test.realm.write {
            test.realm.add(nodes)
            nodes[0].children.append(objectsIn: nodes[1...] + [nodes[1]])
            for node in nodes[1...] {
                nodes[0].peers.insert(node)
                nodes[0].named["\(node.id)"] = node
                node.next = nodes[0]
                node.children.append(nodes[0])
            }
        }
        return (test, nodes[0])
    }

    private let ids = Array(1...9) + [1]

    @Test("a loop over a list visits all elements, even if its body deletes them N130") func deletes() throws {
        let (test, node) = try start()
        var seen = 0
        try test.realm.write {
            for child in node.children {
                seen += 1
                if !child.isInvalidated { test.realm.delete(child) }
            }
        }
        #expect(seen == 10 && node.children.isEmpty && test.realm.objects(Node.self).count == 1)
    }

    @Test("a loop over a list outside a write visits the initial elements N130") func writesInTheBody() throws {
        let (test, node) = try start()
        var seen: [Int] = []
        for child in node.children {
            seen.append(child.isInvalidated ? -1 : child.id)
            try test.realm.write {
                if seen.count == 3, let four = test.realm.object(ofType: Node.self, forPrimaryKey: 4) {
                    test.realm.delete(four)
                }
                node.children.insert(node, at: 0)
                node.children.removeLast()
            }
        }
        #expect(seen == [1, 2, 3, -1, 5, 6, 7, 8, 9, 1])
    }

    @Test("a loop that appends to its list terminates, for managed and unmanaged lists N130") func appends()
        throws
    {
        let (test, node) = try start()
        let (lists, plain) = (ScalarLists(id: 1, ints: [1, 2]), ScalarLists(id: 2, ints: [1, 2]))
        try test.realm.write {
            test.realm.add(lists)
            for child in node.children { node.children.append(child) }
            for number in lists.ints { lists.ints.append(number) }
        }
        for number in plain.ints { plain.ints.append(number) }
        for number in plain.ints where number == 1 { plain.ints.removeAll() }
        #expect(node.children.map(\.id) == ids + ids && Array(lists.ints) == [1, 2, 1, 2] && plain.ints.isEmpty)
    }

    @Test("a loop over a list continues with the initial elements after the Realm is refreshed and invalidated N130")
    func refreshes() throws {
        let (test, node) = try start()
        var seen: [Int] = []
        for child in node.children {
            seen.append(child.id)
            if seen.count == 2 {
                try test.onNewThread { realm in
                    try realm.write {
                        realm.object(ofType: Node.self, forPrimaryKey: 0)?.children.removeAll()
                        realm.object(ofType: Node.self, forPrimaryKey: 3)?.name = "from elsewhere"
                    }
                }
                test.realm.refresh()
            }
            if child.id == 3 { #expect(child.name == "from elsewhere") }
            if seen.count == 5 { test.realm.invalidate() }
        }
        #expect(seen == ids)
    }

    @Test("a loop that ends early releases its cursor; a loop whose body empties the list visits all elements N130")
    func early() throws {
        let test = try TestRealm()
        let node = Node(id: 0)
        try test.realm.write {
            test.realm.add(node)
            node.children.append(objectsIn: (1..<5_000).map { Node(id: $0) })
        }
        for child in node.children where child.id == 3 { break }
        #expect(test.realm.context.cursors.compactMap(\.cursor).isEmpty)
        var seen = 0
        for child in node.children {
            seen += 1
            #expect(child.id == seen)
            if seen == 700 { try test.realm.write { node.children.removeAll() } }
        }
        #expect(seen == 4_999 && node.children.isEmpty)
        for _ in node.children { Issue.record("the list is empty") }
    }

    @Test("loops over sets, maps, linking objects and frozen lists visit the initial elements N130")
    func otherKinds() throws {
        let (test, node) = try start()
        let frozen = node.children.freeze()
        var counts: [Int] = []
        try test.realm.write {
            counts.append(
                node.peers.reduce(0) { count, _ in
                    node.peers.removeAll(); return count + 1
                })
            counts.append(
                node.named.reduce(0) { count, _ in
                    node.named.removeAll(); return count + 1
                })
            counts.append(
                node.parents.reduce(0) { count, parent in
                    parent.children.removeAll(); return count + 1
                })
            counts.append(
                node.previous.reduce(0) { count, origin in
                    origin.next = nil; return count + 1
                })
        }
        #expect(counts == [9, 9, 9, 9] && node.previous.isEmpty && node.parents.isEmpty && node.peers.isEmpty)
        #expect(frozen.map(\.id) == ids)
    }

    @Test(
        "loops over sections, their elements, projections and untyped collections visit the initial elements N130"
    ) func views() throws {
        let (test, node) = try start()
        let sections = test.realm.objects(Node.self).sectioned(by: \.name)
        let projected = test.realm.objects(NodeProjection.self)
        let dynamic = DynamicObject(node)
        var seen: [String] = []
        try test.realm.write {
            for section in sections {
                seen.append("\(section.key)\(section.count)")
                for element in section where element.id != 0 { element.name = "c" }
            }
            node.name = "c"
            for section in test.realm.objects(Node.self).sectioned(by: \.name) {
                seen.append("\(section.reduce(0) { count, element in element.name = "d"; return count + 1 })")
            }
            seen.append(
                "\(NodeProjection(projecting: node).children.reduce(0) { n, _ in node.children.append(node); return n + 1 })"
            )
            node.children.removeSubrange(10..<20)
            seen.append(
                "\(dynamic.dynamicList("children").reduce(0) { n, _ in node.children.append(node); return n + 1 })")
            seen.append("\(dynamic.dynamicSet("peers").reduce(0) { n, _ in node.peers.removeAll(); return n + 1 })")
            seen.append(
                "\(projected.reduce(0) { n, _ in test.realm.delete(test.realm.objects(Node.self).where { $0.id > 0 }); return n + 1 })"
            )
            seen.append(
                "\(test.realm.dynamicObjects("Node").reduce(0) { n, _ in test.realm.deleteAll(); return n + 1 })")
        }
        #expect(seen == ["a5", "b5", "10", "10", "10", "9", "10", "1"])
    }

    @Test(
        "loops over lists return the instances that the program retains, and load the values of all other elements O42")
    func identity()
        throws
    {
        let (test, node) = try start()
        let held = node.children[2]
        let all = Array(node.children)
        #expect(
            all[2] === held && all[0] === all[9] && all.map(\.id) == ids && all.map(\.name).joined() == "aaaabbbbba")
        try test.realm.write {
            held.name = "x"
            #expect(node.children.map(\.name).joined() == "aaxabbbbba")
        }
        #expect(unfinishedStatement(test.realm.context.handle) == nil)
    }
}
