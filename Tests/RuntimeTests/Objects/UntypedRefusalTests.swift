import ConformanceModels
import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// Every API that accepts untyped values traps if a value has the wrong type. The message names the value's key path.
@Suite struct UntypedRefusalTests {
    /// A call that passes an object or value that is not accepted, and a part of the message with which the call traps.
    struct Call: Sendable {
        let message: String
        let run: @Sendable (Realm) -> Void
    }

    static let calls: [Call] = [
        Call(message: "'Node.next' takes 'Node?', but was given 'IntKey { id = 5; content =  }' of type 'IntKey'") {
            _ = $0.create(Node.self, value: ["next": IntKey(id: 5)])
        },
        Call(message: "'Node.next' takes 'Node?', but was given 'IntKey {") { _ in
            _ = Node(value: ["next": IntKey(id: 5)])
        },
        Call(message: "'Node.next' takes 'Node?', but was given 'IntKey {") { $0.create(Node.self)["next"] = IntKey() },
        Call(message: "'Node.next' takes 'Node?', but was given 'IntKey {") { _ in Node()["next"] = IntKey() },
        Call(message: "'Node.part' takes 'Part?', but was given 'IntKey {") {
            _ = $0.create(Node.self, value: ["part": IntKey()])
        },
        Call(message: "'Node.part' takes 'Part?', but was given 'Screw {") { realm in
            realm.create(Node.self, value: ["id": 8, "part": ["name": "p"]] as [String: Any])
            realm.create(Node.self, value: ["id": 8, "part": Screw()] as [String: Any], update: .modified)
        },
        Call(message: "of type 'IntKey' at 'Node.children[1]'. Assign") {
            _ = $0.create(Node.self, value: ["children": [Node(id: 2), IntKey()] as [Any]])
        },
        Call(message: "'Node.children' takes elements of type 'Node', but was given 'IntKey {") { _ in
            _ = Node(value: ["children": [IntKey()]])
        },
        Call(message: "of type 'IntKey' at 'Node.peers[0]'. Assign") { $0.create(Node.self)["peers"] = [IntKey()] },
        Call(message: "of type 'IntKey' at 'Node.named['k']'. Assign") {
            $0.create(Node.self)["named"] = ["k": IntKey()]
        },
        Call(message: "of type 'Screw' at 'Node.parts[0]'. Assign") { realm in
            realm.create(Node.self, value: ["id": 8, "parts": [["name": "p"]]] as [String: Any])
            realm.create(Node.self, value: ["id": 8, "parts": [Screw()]] as [String: Any], update: .modified)
        },
        Call(message: "of type 'IntKey' at 'Node.children[0]'. Assign") {
            $0.create(Node.self).dynamicList("children").append(IntKey())
        },
        Call(message: "of type 'IntKey' at 'Node.children[0]'. Assign") { _ in
            let node = Node(children: [Node(id: 2)])
            node.dynamicList("children")[0] = IntKey()
        },
        Call(message: "'Node.peers' takes elements of type 'Node', but was given 'IntKey {") {
            $0.create(Node.self).dynamicSet("peers").insert(IntKey())
        },
        Call(message: "of type 'IntKey' at 'Node.named['x']'. Assign") {
            $0.create(Node.self).dynamicMap("named")["x"] = IntKey()
        },
        Call(message: "of type 'IntKey' at 'Node.children[0]'. Assign") {
            $0.create(Node.self).mutableArrayValue(forKey: "children").append(IntKey())
        },
        Call(
            message:
                "'Node' takes a dictionary, an array in schema order, or an object of its type, but was given 'IntKey"
        ) { _ in
            _ = Node(value: IntKey())
        },
        Call(
            message:
                "'Node' takes a dictionary, an array in schema order, or an object of its type, but was given 'IntKey"
        ) {
            _ = $0.create(Node.self, value: IntKey())
        },
        Call(
            message:
                "'Node.next' takes 'Node?', but was given 'IntKey { id = 0; content =  }' of type 'IntKey' at 'Node.children[0].part.node.next'"
        ) {
            _ = $0.create(
                Node.self,
                value: ["children": [["id": 2, "part": ["node": ["id": 3, "next": IntKey()] as [String: Any]]]]]
                    as [String: Any])
        },
        Call(message: "'IntKey.content' takes 'String', but was given '5' of type 'Int'. Assign") {
            _ = $0.create(IntKey.self, value: ["content": 5])
        },
        Call(message: "'Node.name' takes 'String', but was given '5' of type 'Int' at 'Node.next.name'. Assign") {
            _ = $0.create(Node.self, value: ["next": ["name": 5]])
        },
        Call(
            message:
                "'Node' takes a dictionary, an array in schema order, or an object of its type, but was given '5' of type 'Int' at 'Node.next'"
        ) {
            _ = $0.create(Node.self, value: ["next": 5])
        },
        Call(message: "'EnumHolder.level' takes 'Level', one of 1, 5, 10, but was given '9' of type 'Int'. Assign") {
            _ = $0.create(EnumHolder.self, value: ["level": 9])
        },
        Call(message: "'EnumHolder.optionalGrade' takes 'Grade?', one of 'poor', 'good', 'best', but was given 'worst'")
        {
            _ = $0.create(EnumHolder.self, value: ["optionalGrade": "worst"])
        },
        Call(
            message:
                "'OptionalLists.levels' takes elements of type 'Level?', one of 1, 5, 10, but was given '9' of type 'Int' at 'OptionalLists.levels[1]'"
        ) {
            _ = $0.create(OptionalLists.self, value: ["levels": [nil, 9] as [Int?]])
        },
        Call(message: "'OptionalLists.ints' takes elements of type 'Int?', but was given 'x' of type 'String' at") {
            _ = $0.create(OptionalLists.self, value: ["ints": ["x"]])
        },
        Call(message: "'ScalarLists.ints' takes a sequence of 'Int', but was given") {
            $0.create(ScalarLists.self)["ints"] = Data([1])
        },
        Call(message: "a frozen 'Node' was added or linked. Frozen objects belong to one version of a file") {
            realm in
            let node = realm.create(Node.self, value: ["id": 8])
            try? realm.commitWrite()
            let frozen = node.freeze()
            try? realm.beginWrite()
            node.next = frozen
        },
    ]

    @Test("a value of a wrong type traps, and the message names its key path O58 O12", arguments: calls.indices)
    func refused(_ index: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [index = index as Int] in
            let test = try TestRealm()
            try test.realm.beginWrite()
            UntypedRefusalTests.calls[index].run(test.realm)
        }
        expectMessage(result, Self.calls[index].message)
    }

    @Test("unknown keys are found in a chain of 3,000 nested dictionaries O57") func unknownKeyInChain() throws {
        let test = try TestRealm()
        var value: [String: Any] = ["id": 3_000, "nam": "x"]
        for id in (0..<3_000).reversed() { value = ["id": id, "next": value] }
        try test.realm.write {
            let error = #expect(throws: Realm.Error.self) {
                try test.realm.create(Node.self, value: value, unknownKeys: .refuse)
            }
            #expect(error.map { "\($0)".contains("next.nam") } == true && test.realm.objects(Node.self).isEmpty)
        }
    }

    @Test("unknown keys are ignored, or rejected with their key paths before any object is created O57 O5")
    func unknownKeys() throws {
        let test = try TestRealm()
        let values: [String: Any] = [
            "id": 1, "nmae": "a", "next": ["id": 2, "Name": "b"],
            "children": [["id": 3], ["id": 4, "x": 1]], "named": ["k": ["y": 2]], "part": ["core": ["z": 0]],
        ]
        try test.realm.write {
            #expect {
                try test.realm.create(Node.self, value: values, unknownKeys: .refuse)
            } throws: { error in
                let message = (error as? Realm.Error)?.message ?? ""
                return (error as? Realm.Error)?.code == .invalidInput
                    && [
                        "'Node.nmae'", "'Node.next.Name'", "'Node.children[1].x'", "'Node.named['k'].y'",
                        "'Node.part.core.z'",
                    ]
                    .allSatisfy(message.contains)
            }
            #expect(test.realm.objects(Node.self).isEmpty)
            let node = try test.realm.create(Node.self, value: values, unknownKeys: .ignore)
            #expect(node.name == "" && node.next?.id == 2 && node.children.map(\.id) == [3, 4])
            #expect(
                try test.realm.create(
                    Node.self, value: ["id": 9, "next": ["id": 10]] as [String: Any], unknownKeys: .refuse
                ).next?.id == 10)
            test.realm.create(Node.self, value: ["id": 11, "nothing": 1] as [String: Any])
            test.realm.dynamicCreate("Node", value: ["id": 12, "nothing": 1] as [String: Any])
        }
        #expect(Node(value: ["id": 1, "nothing": 5] as [String: Any]).id == 1)
        #expect(test.realm.objects(Node.self).count == 9)
    }

    @Test("if a raw value without a case is assigned by name, the optional property becomes nil O31")
    func withoutCase() throws {
        let test = try TestRealm()
        let (unmanaged, managed) = (EnumHolder(optionalLevel: .low), EnumHolder(id: 1, optionalGrade: .best))
        try test.realm.write {
            test.realm.add(managed)
            managed["optionalGrade"] = "worst"
            managed["optionalState"] = "q"
        }
        unmanaged["optionalLevel"] = 99
        #expect(unmanaged.optionalLevel == nil && unmanaged["optionalLevel"] == nil)
        #expect(managed.optionalGrade == nil && managed["optionalGrade"] == nil && managed.optionalState == nil)
    }

    @Test("'.modified' keeps map keys that the new dictionary lacks, and does not record an equal link as a change O5")
    func modified() throws {
        let test = try TestRealm()
        let node = try test.realm.write {
            test.realm.create(ScalarMaps.self, value: ["id": 1, "ints": ["a": 1, "b": 2]] as [String: Any])
            return test.realm.create(
                Node.self,
                value: ["id": 1, "next": ["id": 2], "named": ["x": ["id": 3], "y": nil] as [String: Any?]]
                    as [String: Any])
        }
        try test.realm.beginWrite()
        let maps = test.realm.create(
            ScalarMaps.self, value: ["id": 1, "ints": ["b": 3, "c": 4]] as [String: Any], update: .modified)
        #expect(maps.ints.map { "\($0.key)\($0.value)" }.sorted() == ["a1", "b3", "c4"])
        test.realm.create(
            Node.self, value: ["id": 1, "named": ["y": ["id": 4]]] as [String: Any], update: .modified)
        #expect(Set(node.named.keys) == ["x", "y"] && node.named["y"]??.id == 4)
        test.realm.create(ScalarMaps.self, value: ["id": 1, "ints": ["c": 5]] as [String: Any], update: .all)
        #expect(maps.ints.keys == ["c"])
        try test.realm.commitWrite()
        try test.realm.beginWrite()
        test.realm.create(
            Node.self, value: ["id": 1, "next": ["id": 2, "name": "two"]] as [String: Any], update: .modified)
        let transaction = try #require(test.realm.context.transaction)
        try test.realm.context.flush()
        let changes = transaction.recorder.finish()
        let table = test.realm.context.table(Node.self).id
        #expect(changes.tables[table]?.modified.flatMap { $0.keys.map { $0 } } == [2])
        test.realm.cancelWrite()
        #expect(node.next?.name == "")
    }
}
