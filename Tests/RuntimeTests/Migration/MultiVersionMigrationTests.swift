import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// Migration blocks that migrate from several versions, and blocks with uncommon assignments.
@Suite struct MultiVersionMigrationTests {
    private static let types: [ObjectBase.Type] = [Node.self, Part.self, Screw.self]

    @Test("a property that was renamed twice is renamed step by step O71 O2") func chain() throws {
        let previous = try PreviousFile(["object Keyless\nproperty s String"]) { _ = $0("Keyless", ["s": "kept"]) }
        let realm = try previous.migrated([Keyless.self], schemaVersion: 3) { migration, version in
            if version < 2 { migration.renameProperty(onType: "Keyless", from: "s", to: "between") }
            if version < 3 { migration.renameProperty(onType: "Keyless", from: "between", to: "content") }
        }
        #expect(realm.objects(Keyless.self).map(\.content) == ["kept"])
    }

    @Test("enumerating a type that is in neither the file nor the schema yields no objects O71 O2") func unknownType()
        throws
    {
        let previous = try PreviousFile(["object Keyless\nproperty title String"]) {
            _ = $0("Keyless", ["title": "a"])
        }
        let realm = try previous.migrated([Keyless.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Gone") { _, _ in Issue.record("an unknown type has objects") }
        }
        #expect(realm.objects(Keyless.self).count == 1)
    }

    @Test("a primary key can be assigned its current value, and assigned unmanaged objects are added O71 O2")
    func assigning() throws {
        let schemaText = "object Node\nprimaryKey id\nproperty id Int\nproperty name String\nproperty title String"
        let previous = try PreviousFile([schemaText]) { _ = $0("Node", ["id": 1, "name": "a", "title": "t"]) }
        let realm = try previous.migrated(Self.types) { migration, _ in
            migration.enumerateObjects(ofType: "Node") { old, new in
                guard let old, let new else { return }
                new["id"] = old["id"]
                new["next"] = Node(id: 2, name: "made", part: Part(name: "p", core: Screw(length: 3)))
                new["children"] = [Node(id: 3), new]
            }
        }
        let node = try #require(realm.object(ofType: Node.self, forPrimaryKey: 1))
        #expect(node.next?.name == "made" && node.next?.part?.core?.length == 3)
        #expect(node.children.map(\.id) == [3, 1] && realm.objects(Node.self).count == 3)
    }

    @Test("assigning an object of another type in a migration traps O71 O12") func wrongClass() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let previous = try PreviousFile(["object Node\nprimaryKey id\nproperty id Int\nproperty title String"]) {
                _ = $0("Node", ["id": 1])
            }
            _ = try previous.migrated(MultiVersionMigrationTests.types + [IntKey.self]) { migration, _ in
                migration.enumerateObjects(ofType: "Node") { _, new in new?["next"] = migration.create("IntKey") }
            }
        }
        expectMessage(result, "'Node.next' takes 'Node?', but was given 'IntKey {")
    }

    @Test("an object can be created from an old object of another type, with the values of common properties O71 O5")
    func shared()
        throws
    {
        let previous = try PreviousFile(["object Before\nproperty content String\nproperty weight Double"]) {
            _ = $0("Before", ["content": "c", "weight": 1.0])
        }
        let realm = try previous.migrated([Keyless.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Before") { old, _ in
                if let old { migration.create("Keyless", value: old) }
            }
        }
        #expect(realm.objects(Keyless.self).map(\.content) == ["c"])
    }

    /// A schema in which `Part` and `Screw` are top-level types. The migration makes them embedded.
    private static let shared = [
        """
        object Node
        primaryKey id
        property id Int
        property part link:Part?
        property parts List<link:Part>
        property partsByName Map<link:Part?>
        """,
        "object Part\nproperty name String\nproperty core link:Screw?\nproperty tags List<String>",
        "object Screw\nproperty length Int",
    ]

    /// Creates two nodes that share parts, and a part without an owner.
    private func sharedParts() throws -> PreviousFile {
        try PreviousFile(Self.shared) { create in
            let screw = create("Screw", ["length": 3])
            let part = create("Part", ["name": "shared", "core": screw, "tags": ["x"]])
            _ = create("Part", ["name": "orphan"])
            let other = create("Part", ["name": "other"])
            _ = create("Node", ["id": 1, "part": part, "parts": [part, other, part]])
            _ = create("Node", ["id": 2, "part": part, "partsByName": ["k": part, "l": other]])
        }
    }

    @Test(
        "if a type becomes embedded, separateOwners copies shared objects and deletes objects without owners O71 O20"
    )
    func embedding() throws {
        let openingError = try sharedParts().openingError(Self.types)
        #expect(
            openingError?.message.contains("several owners") == true
                && openingError?.message.contains("no owner") == true)
        let previous = try sharedParts()
        let realm = try previous.migrated(Self.types) { migration, _ in
            migration.separateOwners(ofType: "Part")
            migration.separateOwners(ofType: "Screw")
        }
        let nodes = realm.objects(Node.self)
        #expect(nodes.map { $0.part?.name } == ["shared", "shared"])
        #expect(nodes[0].parts.map(\.name) == ["shared", "other", "shared"])
        #expect(nodes[1].partsByName["k"]??.name == "shared" && nodes[1].partsByName["l"]??.name == "other")
        var parts: [Part] = []
        for node in nodes {
            if let part = node.part { parts.append(part) }
            parts += Array(node.parts)
            parts += node.partsByName.values.compactMap { $0 }
        }
        #expect(parts.count == 7 && Set(parts.map(\._key)).count == 7)
        let sharedParts = parts.filter { $0.name == "shared" }
        #expect(sharedParts.count == 5 && sharedParts.allSatisfy { $0.core?.length == 3 && Array($0.tags) == ["x"] })
        #expect(Set(sharedParts.compactMap { $0.core?._key }).count == 5)
        #expect(realm.context.integers("SELECT _key FROM Part", []).count == 7)
        #expect(realm.context.integers("SELECT _key FROM Screw", []).count == 5)
        try realm.write { nodes[0].part?.name = "changed" }
        #expect(parts.filter { $0.name == "shared" }.count == 4)
    }

    @Test("separateOwners keeps the values of owned objects, for any graph and any order of types O71 O20")
    func separationOrder() throws {
        for seed in 0..<UInt64(40) {
            var random = SeededRandom(seed: seed)
            func choose<Value>(_ values: [Value]) -> Value? { values.randomElement(using: &random) }
            func numbers(_ screws: [Int?]) -> String { screws.map { $0.map { "\($0)" } ?? "-" }.joined(separator: ",") }
            func text(_ node: MigrationObject) -> String {
                let single = [node["part"] as? MigrationObject].compactMap(\.self)
                let parts = single + Array(node["parts"] as! List<MigrationObject>)
                let texts = parts.map { part -> String in
                    let core = part["core"] as? MigrationObject
                    let screws = [core] + Array(part["screws"] as! List<MigrationObject>)
                    return "\(part["name"]!) \(numbers(screws.map { $0?["length"] as? Int }))"
                }
                return texts.joined(separator: " ")
            }
            var schema = Self.shared
            schema[1] += "\nproperty screws List<link:Screw>"
            var before: [String] = []
            let previous = try PreviousFile(schema) { create in
                let screws = (1...3).map { create("Screw", ["length": $0]) }
                let parts = ["a", "b", "c"].map { name in
                    create(
                        "Part",
                        [
                            "name": name, "core": choose(screws + [nil]) as Any,
                            "screws": [choose(screws)!, choose(screws)!],
                        ])
                }
                let nodes = (1...2).map {
                    create("Node", ["id": $0, "part": choose(parts + [nil]) as Any, "parts": [choose(parts)!]])
                }
                before = nodes.map(text)
            }
            let order = ["Part", "Screw"].shuffled(using: &random)
            let realm = try previous.migrated(Self.types) { migration, _ in
                for type in order { migration.separateOwners(ofType: type) }
            }
            let contained = realm.objects(Node.self).map { [$0.part].compactMap(\.self) + Array($0.parts) }
            let after = contained.map { parts -> String in
                parts.map { part -> String in
                    let screws: [Screw?] = [part.core] + Array(part.screws)
                    return "\(part.name) \(numbers(screws.map { $0?.length }))"
                }.joined(separator: " ")
            }
            #expect(after == before, "seed \(seed), \(order)")
            let parts = contained.flatMap(\.self)
            #expect(realm.context.integers("SELECT _key FROM Part", []).count == parts.count, "seed \(seed)")
            let screwCount = parts.map { $0.screws.count + ($0.core == nil ? 0 : 1) }.reduce(0, +)
            #expect(realm.context.integers("SELECT _key FROM Screw", []).count == screwCount, "seed \(seed)")
        }
    }

    @Test(
        "objects that become top-level remain when their former owners are deleted O71 O68",
        arguments: [true, false])
    func undeclaredOwner(isDeletedInMigration: Bool) throws {
        let previous = try PreviousFile([
            "object Former\nprimaryKey id\nproperty id Int\nproperty one embedded:Keyless?\nproperty many List<embedded:Keyless>",
            "embedded Keyless\nproperty content String",
        ]) { create in
            _ = create("Former", ["id": 1, "one": ["content": "a"], "many": [["content": "b"], ["content": "c"]]])
        }
        let realm = try previous.migrated([Keyless.self]) { migration, _ in
            if isDeletedInMigration { migration.deleteData(forType: "Former") }
        }
        if !isDeletedInMigration {
            let table = try #require(realm.context.table(named: "Former"))
            try realm.write { realm.context.deleteRow(1, table) }
        }
        #expect(realm.objects(Keyless.self).map(\.content).sorted() == ["a", "b", "c"])
    }

    @Test("if values of a renamed property do not convert, the message names the property and the values O71 O2")
    func messages()
        throws
    {
        let previous = try PreviousFile(["object IntKey\nprimaryKey id\nproperty id Int\nproperty number Data"]) {
            _ = $0("IntKey", ["id": 4, "number": Data([1])])
        }
        let openingError = previous.openingError([IntKey.self]) { migration, _ in
            migration.renameProperty(onType: "IntKey", from: "number", to: "content")
        }
        #expect(
            openingError?.message.contains("'IntKey.content' was 'Data' and is 'String'") == true,
            "\(openingError?.message ?? "")")
        #expect(openingError?.message.contains("(1 byte of 'IntKey' 4)") == true)
    }
}
