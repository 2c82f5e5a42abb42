import ConformanceModels
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite struct DeleteTests {
    /// Returns the number of rows of the result of a statement.
    private func rows(_ realm: Realm, _ sql: String) -> Int { realm.context.integers(sql, []).count }

    @Test("deleting an object sets links and map entries to nil, and removes the object from lists and sets O6")
    func links() throws {
        let test = try TestRealm()
        let (target, other, holder) = (Node(id: 1), Node(id: 2), Node(id: 3))
        holder.next = target
        holder.children.append(objectsIn: [target, other, target])
        holder.peers.insert(objectsIn: [target, other])
        holder.named.merge(["t": target, "o": other])
        holder.part = Part(node: target)
        try test.realm.write { test.realm.add([target, other, holder]) }
        try test.realm.write {
            holder.name = "dirty"
            test.realm.delete(target)
            #expect(holder.next == nil && holder.children.map(\.id) == [2])
        }
        func check(_ holder: Node) {
            #expect(holder.next == nil && holder.children.map(\.id) == [2] && holder.peers.map(\.id) == [2])
            #expect(holder.named["t"] == .some(nil) && holder.named["o"]??.id == 2 && holder.named.count == 2)
            #expect(holder.part != nil && holder.part?.node == nil && holder.name == "dirty")
        }
        check(holder)
        try test.onNewThread { realm in check(try #require(realm.object(ofType: Node.self, forPrimaryKey: 3))) }
        #expect(unfinishedStatement(test.realm.context.handle) == nil)
    }

    @Test("deleting an owner deletes its embedded objects, at any depth O6") func owned() throws {
        let test = try TestRealm()
        let node = Node(
            id: 1, part: Part(core: Screw(), screws: [Screw(), Screw()]), parts: [Part(screws: [Screw()])],
            partsByName: ["a": Part()])
        try test.realm.write { test.realm.add(node) }
        let screw = try #require(node.part?.screws.last)
        #expect(rows(test.realm, "SELECT _key FROM Part") == 3 && rows(test.realm, "SELECT _key FROM Screw") == 4)
        try test.realm.write { test.realm.delete(node) }
        #expect(
            rows(test.realm, "SELECT _key FROM Part") == 0 && rows(test.realm, "SELECT _key FROM Screw") == 0
                && screw.isInvalidated)
        for table in [
            "Node.parts", "Node.parts.targets", "Part.screws", "Node.partsByName", "Node.partsByName.targets",
        ] {
            #expect(rows(test.realm, "SELECT owner FROM \"\(table)\"") == 0)
        }
        #expect(test.realm.isEmpty)
    }

    @Test("an embedded object can be deleted without its owner O6") func embedded() throws {
        let test = try TestRealm()
        let node = Node(
            id: 1, part: Part(name: "a"), parts: [Part(name: "b"), Part(name: "c")], partsByName: ["k": Part(name: "d")]
        )
        try test.realm.write { test.realm.add(node) }
        try test.realm.write {
            test.realm.delete(try #require(node.part))
            test.realm.delete(node.parts[0])
            test.realm.delete(try #require(node.partsByName["k"] ?? nil))
        }
        #expect(node.part == nil && node.parts.map(\.name) == ["c"] && node.partsByName["k"] == .some(nil))
    }

    @Test("delete accepts sequences, collections and results O6") func many() throws {
        let test = try TestRealm()
        let nodes = (0..<10).map { Node(id: $0) }
        nodes[0].children.append(objectsIn: nodes[1...3])
        nodes[0].peers.insert(nodes[4])
        nodes[5].next = nodes[0]
        try test.realm.write { test.realm.add(nodes) }
        try test.realm.write {
            test.realm.delete(nodes[0].children)
            #expect(nodes[0].children.isEmpty)
            test.realm.delete(nodes[0].peers)
            test.realm.delete(nodes[0].previous)
            test.realm.delete([nodes[6], nodes[6], nodes[7]])
            #expect(test.realm.objects(Node.self).map(\.id) == [0, 8, 9])
            test.realm.delete(test.realm.objects(Node.self).where { $0.id > 8 })
        }
        #expect(test.realm.objects(Node.self).map(\.id) == [0, 8])
        try test.realm.write { for node in test.realm.objects(Node.self) { test.realm.delete(node) } }
        #expect(test.realm.isEmpty)
    }

    @Test("deleteAll empties every table and ignores deletion rules O6") func all() throws {
        let test = try TestRealm()
        let node = Node(id: 1, children: [Node(id: 2)], part: Part())
        let treasure = Treasure(id: 1)
        try test.realm.write {
            test.realm.add(node)
            test.realm.add(Owner(id: 1, guarded: treasure))
        }
        let (list, part) = (node.children, node.part)
        try test.realm.write {
            node.name = "dirty"
            node.children.append(node)
            test.realm.deleteAll()
            #expect(test.realm.isEmpty && test.realm.objects(Node.self).isEmpty)
            test.realm.add(Node(id: 2))
        }
        #expect(node.isInvalidated && list.isInvalidated && part?.isInvalidated == true && treasure.isInvalidated)
        #expect(
            test.realm.objects(Node.self).map(\.id) == [2]
                && rows(test.realm, "SELECT owner FROM \"Node.children\"") == 0)
        try test.realm.write { test.realm.deleteAll() }
        try test.onNewThread { #expect($0.isEmpty) }
    }

    @Test("a changed object can be deleted, and its primary key can be used again O6") func dirty() throws {
        let test = try TestRealm()
        let node = Node(id: 1, name: "a")
        try test.realm.write {
            test.realm.add(node)
            node.name = "b"
            node.children.append(node)
            test.realm.delete(node)
            test.realm.add(Node(id: 1, name: "c"))
        }
        #expect(test.realm.objects(Node.self).map(\.name) == ["c"] && node.isInvalidated)
    }

    @Test("invalid calls of delete trap O6") func mistakes() async {
        let gone = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = Node(id: 4)
            try test.realm.write {
                test.realm.add(node)
                test.realm.delete(node)
                test.realm.delete(node)
            }
        }
        expectMessage(gone, "the 'Node' with the key 4 was deleted")
        let foreign = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (one, other) = (try TestRealm(), try TestRealm())
            try one.realm.write { one.realm.add(Node(id: 1)) }
            try other.realm.write { other.realm.delete(one.realm.objects(Node.self)) }
        }
        expectMessage(foreign, "a 'Node' of another Realm")
        let unmanaged = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write { test.realm.delete(Node()) }
        }
        expectMessage(unmanaged, "an unmanaged 'Node' cannot be deleted")
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            test.realm.delete(test.realm.objects(Node.self))
        }
        expectMessage(outside, "changed outside a write transaction")
        let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = Node(id: 4, children: [Node(id: 5)])
            try test.realm.write { test.realm.add(node) }
            let list = node.children
            try test.realm.write { test.realm.delete(node) }
            #expect(list.count == 0)
            _ = list[0]
        }
        expectMessage(read, "the 'Node' that owns 'children', with the key 4, was deleted")
    }
}
