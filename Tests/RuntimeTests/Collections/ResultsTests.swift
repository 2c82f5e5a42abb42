import ConformanceModels
import Martlet
import MartletTestSupport
import Testing

@Suite struct ResultsTests {
    @Test("results are live, and show uncommitted changes of the open write O41") func live() throws {
        let test = try TestRealm()
        let big = test.realm.objects(Node.self).where { $0.amount > 5 }
        #expect(big.isEmpty && big.count == 0 && big.first == nil && big.last == nil)
        try test.realm.write {
            let node = Node(id: 1, amount: 9)
            test.realm.add(node)
            #expect(big.count == 1 && big.first == node)
            node.amount = 1
            #expect(big.isEmpty)
            node.amount = 7
            test.realm.add(Node(id: 2, amount: 6))
            #expect(big.map(\.id) == [1, 2] && big.last?.id == 2)
        }
        try test.onNewThread { realm in try realm.write { realm.add(Node(id: 3, amount: 8)) } }
        #expect(big.count == 2)
        test.realm.refresh()
        #expect(big.count == 3 && big[2].id == 3)
    }

    @Test("results of one query are equal, have a Realm, and find the index of an object O41") func facts() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add((0..<300).map { Node(id: $0 * 2) }) }
        let all = test.realm.objects(Node.self)
        #expect(
            all == test.realm.objects(Node.self) && all != all.where { $0.id == 1 }
                && all.where { $0.id == 1 } == all.where { $0.id == 1 })
        #expect(all.realm == test.realm && !all.isFrozen && !all.isInvalidated)
        #expect(
            all.index(of: all[299]) == 299 && all.index(of: Node(id: 4)) == nil
                && all.where { $0.id > 10 }.index(of: all[0]) == nil)
        #expect(
            all[0].id == 0 && all[127].id == 254 && all[128].id == 256 && all.dropFirst(298).map(\.id) == [596, 598])
        #expect(all.first { $0.id > 100 }?.id == 102 && all.contains(all[5]) && all.reversed().first?.id == 598)
    }

    @Test("a loop visits the initial members of the results, whatever its body changes O40") func iteration() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add((0..<1_000).map { Node(id: $0) }) }
        let low = test.realm.objects(Node.self).where { $0.amount == 0 }
        var seen = 0
        try test.realm.write {
            for node in low {
                node.amount = 1
                seen += 1
            }
            #expect(low.isEmpty)
        }
        #expect(seen == 1_000)
        try test.realm.write {
            for node in test.realm.objects(Node.self) where node.id % 2 == 0 { test.realm.delete(node) }
        }
        #expect(test.realm.objects(Node.self).count == 500)
        try test.realm.write { test.realm.objects(Node.self).setValue("all", forKey: "name") }
        #expect(test.realm.objects(Node.self).where { $0.name == "all" }.count == 500)
    }

    @Test("linking objects are live, contain an object once for each link, and are invalidated with the target O45")
    func linking() throws {
        let test = try TestRealm()
        let nodes = (0..<4).map { Node(id: $0, amount: Double($0)) }
        nodes[1].next = nodes[0]
        nodes[2].next = nodes[0]
        nodes[3].children.append(objectsIn: [nodes[0], nodes[0]])
        try test.realm.write { test.realm.add(nodes) }
        let (previous, parents) = (nodes[0].previous, nodes[0].parents)
        #expect(previous.map(\.id) == [1, 2] && parents.map(\.id) == [3, 3] && parents.count == 2)
        #expect(
            previous.sum(ofProperty: "amount") as Double == 3 && previous.max(ofProperty: "amount") as Double? == 2
                && previous.index(of: nodes[2]) == 1)
        #expect(
            previous.where { $0.id == 2 }.count == 1
                && previous.sorted(byKeyPath: "id", ascending: false).first?.id == 2)
        try test.realm.write {
            nodes[1].next = nil
            #expect(previous.count == 1)
            nodes[3].children.remove(at: 0)
            #expect(parents.count == 1)
            nodes[3].children.removeAll()
            #expect(parents.isEmpty)
        }
        try test.realm.write { test.realm.delete(nodes[0]) }
        #expect(previous.isInvalidated && previous.isEmpty && Array(previous) == [] && nodes[2].next == nil)
        #expect(Node().previous.isEmpty && Node().previous.sum(ofProperty: "amount") as Double == 0)
    }

    @Test("a position out of bounds traps O40") func mistakes() async {
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.objects(Node.self)[0]
        }
        expectMessage(outside, "the index 0 is outside of the results, whose number of elements is 0")
    }
}
