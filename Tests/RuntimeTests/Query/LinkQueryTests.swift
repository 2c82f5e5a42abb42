import ConformanceModels
import KennelModels
import Martlet
import MartletTestSupport
import Testing

@Suite struct LinkQueryTests {
    /// Node 1 links to node 2, and node 2 links to node 3. Node 4 has the children 1, 2 and 2, the peer 3, a map entry
    /// with node 5, and parts. Node 3 has a part. Node 5 has no links.
    private func graph() throws -> TestRealm {
        let test = try TestRealm()
        let nodes = (1...5).map { Node(id: $0, name: "n\($0)", amount: Double($0)) }
        nodes[0].next = nodes[1]
        nodes[1].next = nodes[2]
        nodes[3].children.append(objectsIn: [nodes[0], nodes[1], nodes[1]])
        nodes[3].peers.insert(nodes[2])
        nodes[3].named["x"] = nodes[4]
        nodes[3].part = Part(name: "p", weight: 2, core: Screw(length: 7), tags: ["a", "e\u{301}"])
        nodes[3].parts.append(objectsIn: [Part(name: "q", weight: 1), Part(name: "r", weight: .nan), Part(name: "s")])
        nodes[2].part = Part(name: "z", weight: .nan)
        try test.realm.write { test.realm.add(nodes) }
        return test
    }

    private func ids<Condition: QueryConvertible<Node>>(_ test: TestRealm, _ condition: (Node.RootFields) -> Condition)
        -> [Int]
    {
        test.realm.objects(Node.self).where(condition).map(\.id)
    }

    @Test("paths lead through any number of links; behind a nil link, values are nil O50") func links() throws {
        let test = try graph()
        #expect(ids(test) { $0.next.name == "n2" } == [1])
        #expect(ids(test) { $0.next.next.name == "n3" } == [1])
        #expect(ids(test) { $0.next.name != "n2" } == [2, 3, 4, 5])
        #expect(ids(test) { $0.next.amount > 2 } == [2])
        #expect(ids(test) { $0.next == nil } == [3, 4, 5])
        #expect(ids(test) { $0.next != nil } == [1, 2])
        #expect(ids(test) { $0.next.next == nil } == [2, 3, 4, 5])
        #expect(ids(test) { $0.part.core.length == 7 } == [4])
        #expect(ids(test) { $0.next.part.name == "z" } == [2])
        #expect(ids(test) { $0.part.weight == nil } == [1, 2, 5])
        #expect(ids(test) { $0.part.weight != nil } == [3, 4])
        #expect(ids(test) { $0.next.part.weight == nil } == [1, 3, 4, 5])
    }

    @Test("links can be compared with objects O50") func objects() throws {
        let test = try graph()
        let nodes = Array(test.realm.objects(Node.self))
        #expect(ids(test) { $0.next == nodes[1] } == [1])
        #expect(ids(test) { $0.next != nodes[1] } == [2, 3, 4, 5])
        #expect(ids(test) { $0.next.in([nodes[1], nodes[2]]) } == [1, 2])
        #expect(ids(test) { $0.next == Node(id: 2) } == [])
        #expect(ids(test) { $0.children.contains(nodes[1]) } == [4])
        #expect(ids(test) { $0.peers.contains(nodes[2]) && !$0.children.contains(nodes[2]) } == [4])
        #expect(ids(test) { $0.children.containsAny(in: [nodes[4], nodes[0]]) } == [4])
        #expect(ids(test) { $0.children.containsAny(in: []) } == [])
    }

    @Test("a condition on elements matches if any element matches O50") func any() throws {
        let test = try graph()
        #expect(ids(test) { $0.children.name == "n2" } == [4])
        #expect(ids(test) { $0.children.next.name == "n3" } == [4])
        #expect(ids(test) { $0.children.name != "n2" } == [4])
        #expect(ids(test) { !($0.children.name == "n2") } == [1, 2, 3, 5])
        #expect(ids(test) { $0.parts.weight == nil } == [4])
        #expect(ids(test) { $0.parts.weight > 5 } == [])
        #expect(ids(test) { $0.peers.part.weight != nil } == [4])
        #expect(ids(test) { $0.part.tags.contains("a") } == [4])
        #expect(ids(test) { $0.part.tags.contains("\u{e9}") } == [])
        #expect(ids(test) { $0.part.tags.containsAny(in: ["x", "e\u{301}"]) } == [4])
        #expect(ids(test) { $0.children.name.starts(with: "n") } == [4])
        #expect(ids(test) { $0.children.name.in(["n1", "zz"]) } == [4])
        #expect(ids(test) { $0.children.id.contains(1..<2) } == [4])
    }

    @Test("a property of an element can be compared with a property of the owner O50") func mixed() throws {
        let test = try graph()
        #expect(ids(test) { $0.children.amount < $0.amount } == [4])
        #expect(ids(test) { $0.children.amount > $0.amount } == [])
        #expect(ids(test) { $0.amount > $0.children.amount } == [4])
        #expect(ids(test) { $0.next.amount > $0.amount } == [1, 2])
        #expect(ids(test) { $0.children.amount == $0.children.amount } == [4])
    }

    @Test("conditions lead through linking objects O45 O50") func inverse() throws {
        let test = try graph()
        #expect(ids(test) { $0.previous.name == "n1" } == [2])
        #expect(ids(test) { $0.parents.amount > 3 } == [1, 2])
        #expect(ids(test) { $0.peersOf.name == "n4" } == [3])
        #expect(ids(test) { $0.namedBy.name == "n4" } == [5])
        #expect(ids(test) { $0.previous.previous.name == "n1" } == [3])
        #expect(ids(test) { $0.previous.count == 0 } == [1, 4, 5])
        #expect(ids(test) { $0.parents.count == 1 } == [1] && ids(test) { $0.parents.count == 2 } == [2])
    }

    @Test("conditions compare counts and aggregates of collections O50") func numbers() throws {
        let test = try graph()
        #expect(ids(test) { $0.children.count == 3 } == [4])
        #expect(ids(test) { $0.children.count < 1 } == [1, 2, 3, 5])
        #expect(ids(test) { $0.children.amount.sum == 5 } == [4])
        #expect(ids(test) { $0.children.amount.avg > 1.6 } == [4])
        #expect(ids(test) { $0.children.amount.max == 2 } == [4])
        #expect(ids(test) { $0.children.amount.min == 1 } == [4])
        #expect(ids(test) { $0.children.amount.sum == 0 } == [1, 2, 3, 5])
        #expect(ids(test) { $0.previous.amount.sum == 1 } == [2])
        #expect(ids(test) { $0.part.tags.count == 2 } == [4])
        #expect(ids(test) { $0.part.screws.count == 0 } == [1, 2, 3, 4, 5])
    }

    @Test("contains(_:) finds a value in a collection of values O50") func values() throws {
        let test = try TestRealm()
        try test.realm.write {
            let lists = OptionalLists(id: 1)
            lists.doubles.append(objectsIn: [-0.0, .nan, 5])
            lists.ints.append(objectsIn: [nil, 3])
            lists.datas.append(
                [0, 0, 0, 0, 0, 0, 0, 0x80].withUnsafeBytes { _ in .init([0, 0, 0, 0, 0, 0, 0, 0x80]) })
            lists.sizes.append(.best)
            test.realm.add(lists)
        }
        let all = test.realm.objects(OptionalLists.self)
        #expect(all.where { $0.doubles.contains(0) }.count == 1 && all.where { $0.doubles.contains(-0.0) }.count == 1)
        #expect(all.where { $0.doubles.contains(.nan) }.isEmpty && all.where { $0.doubles.contains(nil) }.isEmpty)
        #expect(
            all.where { $0.ints.contains(nil) }.count == 1 && all.where { $0.ints.contains(3) }.count == 1
                && all.where { $0.ints.contains(4) }.isEmpty)
        #expect(all.where { $0.sizes.contains(.best) }.count == 1 && all.where { $0.sizes.contains(.poor) }.isEmpty)
        #expect(all.where { $0.strings.count == 0 && $0.ints.count == 2 }.count == 1)
    }

    @Test("a condition with an object of another Realm traps, and so does a condition with a deleted object O50")
    func foreign() async {
        let foreign = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (one, other) = (try TestRealm(), try TestRealm())
            let node = Node(id: 1)
            try one.realm.write { one.realm.add(node) }
            _ = other.realm.objects(Node.self).where { $0.next == node || $0.id == 1 }
        }
        expectMessage(foreign, "a 'Node' of another Realm")
        let deleted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = Node(id: 1)
            try test.realm.write {
                test.realm.add(node)
                test.realm.delete(node)
            }
            _ = test.realm.objects(Node.self).where { $0.next == node }
        }
        expectMessage(deleted, "the 'Node' with the key 1 was deleted")
    }
}
