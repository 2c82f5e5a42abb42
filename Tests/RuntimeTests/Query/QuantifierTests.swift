import ConformanceModels
import Martlet
import MartletTestSupport
import Testing

/// Conditions on the elements of a collection, with and without quantifiers.
@Suite struct QuantifierTests {
    /// Node 0 has the children 1, 2 and 2 and the tags 'foo' and 'Bar'. Node 3 has the child 4 and the tag 'bar'.
    /// Node 1 links to node 2. The nodes 2, 4 and 5 have no links.
    private func filled() throws -> TestRealm {
        let test = try TestRealm()
        try test.realm.write {
            let nodes = (0..<6).map { Node(id: $0, name: ["a", "B", "b", "a", "A", ""][$0], amount: Double($0)) }
            test.realm.add(nodes)
            nodes[0].children.append(objectsIn: [nodes[1], nodes[2], nodes[2]])
            nodes[3].children.append(nodes[4])
            nodes[1].next = nodes[2]
            nodes[0].part = Part(tags: ["foo", "Bar"])
            nodes[3].part = Part(tags: ["bar"])
        }
        return test
    }

    private func ids(_ test: TestRealm, _ text: String, _ arguments: Any?...) throws -> [Int] {
        try test.realm.objects(Node.self).filter(Realm.Predicate(parsing: text, arguments: arguments)).map(\.id)
    }

    @Test(
        "'CONTAINS' with a quantifier searches inside elements; without one, it searches for an equal element O81 O51")
    func contains() throws {
        let test = try filled()
        #expect(try ids(test, "ANY part.tags CONTAINS 'oo'") == [0])
        #expect(try ids(test, "part.tags CONTAINS 'oo'") == [])
        #expect(try ids(test, "part.tags CONTAINS 'foo'") == [0])
        #expect(try ids(test, "NONE part.tags CONTAINS 'ar'") == [1, 2, 4, 5])
        #expect(try ids(test, "ALL part.tags CONTAINS[c] 'BA'") == [1, 2, 3, 4, 5])
    }

    @Test("options apply to both sides of 'IN' and 'CONTAINS' O81 O51") func options() throws {
        let test = try filled()
        #expect(try ids(test, "'BAR' IN[c] part.tags") == [0, 3] && ids(test, "'BAR' IN part.tags") == [])
        #expect(
            try ids(test, "part.tags CONTAINS[c] 'BAR'") == [0, 3] && ids(test, "part.tags CONTAINS[c] 'BA'") == [])
        #expect(try ids(test, "name IN[c] part.tags") == [])
        #expect(try ids(test, "ANY children.name IN[c] {'A', 'x'}") == [3])
        #expect(try ids(test, "ALL children.name IN[c] {'B', 'x'}") == [0, 1, 2, 4, 5])
    }

    @Test("'!=' on a collection matches if any element differs, for every type O81 O50 O51")
    func differs() throws {
        let test = try filled()
        let all = test.realm.objects(Node.self)
        func typed(_ condition: (Node.RootFields) -> Query<Node>) -> [Int] { all.where(condition).map(\.id) }
        #expect(typed { $0.children.next != all[2] } == [0, 3] && typed { $0.children.next != nil } == [0])
        #expect(typed { $0.children.next != Node(id: 9) } == [0, 3], "an unmanaged object equals no element")
        #expect(typed { $0.children.name != "B" } == [0, 3] && typed { $0.children.name.notEquals("A") } == [0])
        #expect(typed { $0.children.name.notEquals("a", options: .caseInsensitive) } == [0])
        #expect(try ids(test, "ANY children != %@", all[4]) == [0] && ids(test, "ANY children.next != nil") == [0])
        #expect(try ids(test, "ANY children.name !=[c] 'B'") == [3] && ids(test, "ANY part.tags !=[c] 'bar'") == [0])
        #expect(
            try ids(test, "ANY part.tags != 'bar'") == [0]
                && ids(test, "NONE part.tags !=[c] 'bar'") == [1, 2, 3, 4, 5])
        #expect(try ids(test, "ALL children != %@", all[4]) == [0, 1, 2, 4, 5])
        #expect(try ids(test, "NOT ANY children == %@", all[4]) == [0, 1, 2, 4, 5])
        #expect(try ids(test, "next != %@", all[2]) == [0, 2, 3, 4, 5], "the path has no collection")
    }

    @Test("'ALL' compares each element with values of the owner of the collection O81 O51") func all() throws {
        let test = try filled()
        #expect(try ids(test, "ALL children.id < id + 3") == [0, 1, 2, 3, 4, 5])
        #expect(try ids(test, "ALL children.id < id + 2") == [1, 2, 3, 4, 5])
        #expect(try ids(test, "ALL children.amount > id") == [0, 1, 2, 3, 4, 5])
        #expect(try ids(test, "ALL children.amount <= id + 1") == [1, 2, 3, 4, 5])
        #expect(try ids(test, "ALL children.id > next.id") == [1, 2, 4, 5])
        #expect(try ids(test, "ALL children.id * 2 - 2 <= id") == [1, 2, 4, 5])
        #expect(try ids(test, "ALL children.children.id > 3") == [0, 1, 2, 3, 4, 5])
    }

    @Test("calculations on both sides of a comparison can contain paths through collections O81 O51")
    func calculations() throws {
        let test = try filled()
        #expect(try ids(test, "ANY children.id * 2 > 5") == [3] && ids(test, "children.id * 2 > 3") == [0, 3])
        #expect(try ids(test, "children.id * id == 12") == [3] && ids(test, "12 == id * children.id") == [3])
        #expect(try ids(test, "children.id + children.id == 3") == [0], "each path stands for a separate element")
        #expect(try ids(test, "NONE children.id - 1 == id") == [1, 2, 4, 5])
        #expect(try ids(test, "children.@count + children.id == 5") == [0, 3])
    }
}
