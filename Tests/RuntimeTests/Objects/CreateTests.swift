import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite struct CreateTests {
    @Test("create accepts dictionaries, arrays and objects, nested to any depth O5") func nested() throws {
        let test = try TestRealm()
        let node = try test.realm.write {
            test.realm.create(
                Node.self,
                value: [
                    "id": 1, "name": "a",
                    "next": ["id": 2, "next": [3, "c", 2.5] as [Any]] as [String: Any],
                    "children": [["id": 4], [5, "e"] as [Any], Node(id: 6, name: "f")] as [Any],
                    "peers": [["id": 7]],
                    "named": ["x": ["id": 8], "y": nil] as [String: Any?],
                    "part": [
                        "name": "p", "core": ["length": 9], "screws": [["length": 10], [11, "M3"] as [Any]],
                        "node": ["id": 12], "tags": ["t"],
                    ] as [String: Any],
                    "parts": [["name": "q"]], "partsByName": ["r": ["name": "r"]],
                ])
        }
        #expect(
            node.next?.next?.amount == 2.5 && node.children.map(\.name) == ["", "e", "f"] && node.peers.first?.id == 7)
        #expect(node.named["x"]??.id == 8 && node.named["y"] == .some(nil))
        #expect(
            node.part?.core?.length == 9 && node.part?.screws.map(\.thread) == [nil, "M3"] && node.part?.node?.id == 12)
        #expect(
            node.part.map { Array($0.tags) } == ["t"] && node.parts.first?.name == "q"
                && node.partsByName["r"]??.name == "r")
        #expect(test.realm.objects(Node.self).count == 9)
    }

    @Test(
        "create and init(value:) take long chains of objects and need no deep call stack O5",
        arguments: ["next", "children", "named"])
    func longChains(_ property: String) throws {
        let test = try TestRealm()
        let length = 2_000
        func nested(_ object: [String: Any]) -> Any {
            property == "next" ? object : property == "children" ? [object] : ["k": object]
        }
        var value: [String: Any] = ["id": length - 1, "name": "end"]
        for id in (0..<length - 1).reversed() { value = ["id": id, property: nested(value)] }
        func next(_ node: Node) -> Node? {
            property == "next" ? node.next : node.children.first ?? node.named["k"] ?? nil
        }
        func isComplete(_ start: Node?) -> Bool {
            var (count, node, last) = (0, start, start)
            while let current = node, count <= length { (count, last, node) = (count + 1, current, next(current)) }
            return count == length && last?.name == "end" && last?.id == length - 1
        }
        for policy in [Realm.UpdatePolicy.error, .modified, .all] {
            try test.realm.write { test.realm.create(Node.self, value: value, update: policy) }
            #expect(isComplete(test.realm.object(ofType: Node.self, forPrimaryKey: 0)))
            #expect(test.realm.objects(Node.self).count == length)
        }
        #expect(isComplete(Node(value: value)))
        // 'create' copies the objects of another Realm.
        let other = try TestRealm()
        let first = try #require(test.realm.object(ofType: Node.self, forPrimaryKey: 0))
        try other.realm.write { other.realm.create(Node.self, value: first) }
        #expect(isComplete(other.realm.object(ofType: Node.self, forPrimaryKey: 0)))
    }

    @Test(
        "several values for one object are assigned in the order of the input, at any depth O5",
        arguments: [5, 14, 15, 16, 17, 33, 62, 63, 64, 65, 127])
    func order(_ depth: Int) throws {
        let test = try TestRealm()
        let last: [[String: Any]] = ["a", "b", "c"].map { ["id": 1_000, "name": $0] }
        var value: [String: Any] = ["id": depth, "children": last]
        for id in (0..<depth).reversed() { value = ["id": id, "next": value] }
        try test.realm.write { test.realm.create(Node.self, value: value, update: .modified) }
        let end = try #require(test.realm.object(ofType: Node.self, forPrimaryKey: depth))
        #expect(end.children.map(\.id) == [1_000, 1_000, 1_000] && end.children[0].name == "c")
    }

    @Test(
        "if an object occurs twice in the input, its later values are stored, also deep in the input O5",
        arguments: [13, 14, 15, 16, 17, 40], [Realm.UpdatePolicy.modified, .all])
    func deepOrder(_ depth: Int, _ policy: Realm.UpdatePolicy) throws {
        for exists in [false, true] {
            let test = try TestRealm()
            if exists { try test.realm.write { test.realm.add(Node(id: 1_000, name: "old")) } }
            let inner: (String) -> [String: Any] = { ["id": 1_000, "name": $0, "next": ["id": 2_000, "name": $0]] }
            var chain = inner("first")
            for id in (1..<depth).reversed() { chain = ["id": id, "next": chain] }
            let value: [String: Any] = ["id": 0, "children": [chain, inner("second")]]
            try test.realm.write { test.realm.create(Node.self, value: value, update: policy) }
            let end = try #require(test.realm.object(ofType: Node.self, forPrimaryKey: 1_000))
            #expect(end.name == "second" && end.next?.name == "second")
            #expect(test.realm.objects(Node.self).count == depth + 2)
        }
    }

    @Test("a cycle of many objects of another Realm is copied as a cycle O5") func longCycle() throws {
        let (test, other) = (try TestRealm(), try TestRealm())
        let nodes = (0..<300).map { Node(id: $0) }
        for (node, next) in zip(nodes, nodes.dropFirst() + [nodes[30]]) { node.next = next }
        try test.realm.write { test.realm.add(nodes[0]) }
        try other.realm.write { other.realm.create(Node.self, value: nodes[0]) }
        let copies = other.realm.objects(Node.self)
        #expect(copies.count == 300 && copies[299].next?.id == 30 && copies[299].next == copies[30])
    }

    @Test("create accepts the output of JSONSerialization O5") func json() throws {
        let test = try TestRealm()
        let text = """
            {"id": 7, "name": "é", "amount": 3, "next": null, "children": [{"id": 8, "amount": 2.5}], "part": null,
             "named": {"x": null, "y": {"id": 9}}}
            """
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let node = try test.realm.write { test.realm.create(Node.self, value: json) }
        #expect(node.id == 7 && node.name == "é" && node.amount == 3 && node.next == nil && node.part == nil)
        #expect(node.children.first?.amount == 2.5 && node.named["x"] == .some(nil) && node.named["y"]??.id == 9)
        let flags = try JSONSerialization.jsonObject(with: Data(#"{"id": 1, "bool": true, "int": 1}"#.utf8))
        let values = try test.realm.write { test.realm.create(OptionalScalars.self, value: flags) }
        #expect(values.bool == true && values.int == 1 && values.double == nil)
    }

    @Test("create assigns the values of an array in schema order, and skips linking objects O5") func arrays() throws {
        let test = try TestRealm()
        let node = try test.realm.write {
            test.realm.create(Node.self, value: [1, "a", 0.5, nil, [], [], [:], ["name": "p"]] as [Any?])
        }
        #expect(node.part?.name == "p")
    }

    @Test(
        "with an update policy, nested values change only the given properties, but .all replaces embedded objects O5",
        arguments: [false, true]) func partial(
            _ all: Bool
        ) throws
    {
        let policy: Realm.UpdatePolicy = all ? .all : .modified
        let test = try TestRealm()
        let next = Node(id: 2, name: "b", amount: 7)
        let node = Node(id: 1, name: "a", amount: 3, next: next, part: Part(name: "p", weight: 4))
        try test.realm.write { test.realm.add(node) }
        let part = try #require(node.part)
        try test.realm.write {
            test.realm.create(
                Node.self,
                value: ["id": 1, "name": "A", "next": ["id": 2, "name": "B"], "part": ["name": "q"]] as [String: Any],
                update: policy)
        }
        #expect(node.name == "A" && node.amount == 3 && node.next == next && next.name == "B" && next.amount == 7)
        #expect(node.part?.name == "q" && node.part?.weight == (all ? nil : 4) && part.isInvalidated == all)
        // Creates a new object that links to existing objects.
        try test.realm.write {
            test.realm.create(
                Node.self,
                value: ["id": 9, "next": ["id": 2, "name": "bb"], "children": [["id": 1]]] as [String: Any],
                update: policy)
        }
        #expect(next.name == "bb" && next.amount == 7 && node.name == "A" && node.parents.first?.id == 9)
    }

    @Test(
        "if an update gets embedded objects of the updated object, it stores the values that they had before O5 O23",
        arguments: [Realm.UpdatePolicy.modified, .all])
    func ownEmbeddedObjects(_ policy: Realm.UpdatePolicy) throws {
        // Describes the embedded objects after an update. 'a1*' is the part 'a', whose core has the length 1, and which
        // links to a node.
        func outcome(_ value: (Node) -> [String: Any]) throws -> [String] {
            let test = try TestRealm()
            let parts = ["a", "b"].map { Part(name: $0, core: Screw(length: $0 == "a" ? 1 : 2)) }
            let node = Node(
                id: 1, part: Part(name: "p"), parts: parts,
                partsByName: ["k": Part(name: "K"), "l": Part(name: "L")])
            parts[0].node = node
            try test.realm.write { test.realm.add(node) }
            try test.realm.write {
                test.realm.create(Node.self, value: value(node).merging(["id": 1]) { $1 }, update: policy)
            }
            #expect(test.realm.objects(Node.self).count == 1)
            return [node.part?.name ?? "-"]
                + node.parts.map { "\($0.name)\($0.core?.length ?? 0)\($0.node == nil ? "" : "*")" }
                + node.partsByName.map { "\($0.key)=\($0.value?.name ?? "-")" }.sorted()
        }
        func expect(_ expected: [String], _ value: (Node) -> [String: Any], map: [String] = ["k=K", "l=L"]) throws {
            let outcome = try outcome(value)
            #expect(outcome == expected + map)
        }
        try expect(["p", "new0", "a1*", "b2"]) { ["parts": [Part(name: "new")] + Array($0.parts)] }
        // With `.modified`, the properties that the dictionary does not contain keep their values in the existing
        // object.
        try expect(["p", policy == .modified ? "new1*" : "new0", "a1*", "b2"]) {
            ["parts": [["name": "new"] as Any] + Array($0.parts) as [Any]]
        }
        try expect(["p", "b2", "a1*"]) { ["parts": Array($0.parts.reversed())] }
        try expect(["p", "b2", "a1*"]) { ["parts": $0.parts.sorted(byKeyPath: "name", ascending: false)] }
        try expect(["p", "b2", "b2"]) { ["parts": [$0.parts[1], $0.parts[1]]] }
        try expect(["b", "p0", "a1*"]) { ["part": $0.parts[1], "parts": [$0.part as Any, $0.parts[0]]] }
        try expect(["p", "a1*", "b2"]) { ["parts": $0.parts, "part": $0.part as Any] }
        try expect(
            ["p", "a1*", "b2"],
            { ["partsByName": ["k": $0.partsByName["l"] as Any, "l": $0.partsByName["k"] as Any]] },
            map: ["k=L", "l=K"])
    }

    @Test(
        "in lists and maps, .modified updates embedded objects in place, and .all replaces them O23",
        arguments: [false, true])
    func embeddedCollections(_ all: Bool) throws {
        let test = try TestRealm()
        let node = try test.realm.write {
            test.realm.create(
                Node.self,
                value: [
                    "id": 1, "parts": [["name": "a", "weight": 1.0], ["name": "b"]],
                    "partsByName": ["k": ["name": "m", "weight": 2.0], "l": ["name": "n"]],
                ] as [String: Any])
        }
        let (part, mapped) = (try #require(node.parts.first), try #require(node.partsByName["k"] ?? nil))
        try test.realm.write {
            test.realm.create(
                Node.self,
                value: ["id": 1, "parts": [["name": "A"]], "partsByName": ["k": ["name": "M"], "o": ["name": "O"]]]
                    as [String: Any],
                update: all ? .all : .modified)
        }
        #expect(
            node.parts.map(\.name) == ["A"] && node.parts.first?.weight == (all ? nil : 1) && part.isInvalidated == all)
        // With .modified, keys that the dictionary does not contain stay in the map.
        #expect(
            Set(node.partsByName.keys) == (all ? ["k", "o"] : ["k", "l", "o"]) && node.partsByName["k"]??.name == "M"
                && mapped.isInvalidated == all)
        #expect(node.partsByName["k"]??.weight == (all ? nil : 2))
        #expect(test.realm.context.integers("SELECT _key FROM Part", []).count == (all ? 3 : 4))
    }

    @Test("create copies an object with its embedded objects, from another Realm or within one Realm O5")
    func copies() throws {
        let (one, other) = (try TestRealm(), try TestRealm())
        let source = Node(
            id: 1, name: "a", next: Node(id: 2), children: [Node(id: 3)],
            part: Part(name: "p", screws: [Screw(length: 5)]), parts: [Part(name: "q")])
        source.next?.next = source
        try one.realm.write { one.realm.add(source) }
        let copy = try other.realm.write { other.realm.create(Node.self, value: source) }
        #expect(
            copy.realm == other.realm && copy.next?.id == 2 && copy.next?.next == copy
                && copy.part?.screws.first?.length == 5)
        #expect(copy.children.map(\.id) == [3] && copy.parts.map(\.name) == ["q"] && source.part?.name == "p")
        let dog = Dog(name: "Rex", owner: Person(firstName: "Ada", address: Address(city: "Oslo")))
        try one.realm.write { one.realm.add(dog) }
        let person = try #require(dog.owner)
        let copied = try one.realm.write { one.realm.create(Person.self, value: person) }
        #expect(
            copied != person && copied.address?.city == "Oslo" && copied.address != person.address
                && copied.dogs.isEmpty)
    }

    @Test("a value of a wrong type traps with the expected type in the message O58 O5") func mistakes() async {
        let type = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write { test.realm.create(IntKey.self, value: ["id": 1, "content": 5]) }
        }
        expectMessage(type, "'IntKey.content' takes 'String', but was given '5'")
        let null = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write { test.realm.create(IntKey.self, value: ["content": nil] as [String: String?]) }
        }
        expectMessage(null, "'IntKey.content' takes 'String', but was given 'nil'")
        let range = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let scalars = Scalars()
            scalars["int8"] = 128
        }
        expectMessage(range, "'Scalars.int8' takes 'Int8', but was given '128'")
        let enumeration = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let holder = EnumHolder()
            holder["level"] = 99
        }
        expectMessage(enumeration, "'EnumHolder.level' takes 'Level', one of 1, 5, 10, but was given '99'")
        let shape = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = IntKey(value: 5)
        }
        expectMessage(shape, "'IntKey' takes a dictionary, an array in schema order, or an object")
        let long = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = IntKey(value: [1, "a", 2] as [Any])
        }
        expectMessage(long, "an array of at most 2 values")
        let element = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ScalarLists(value: ["ints": [1, "two"] as [Any]])
        }
        expectMessage(element, "'ScalarLists.ints' takes elements of type 'Int', but was given 'two'")
        let computed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Node()["previous"] = [Node]()
        }
        expectMessage(computed, "'Node.previous' cannot be assigned: it is computed from links")
    }
}
