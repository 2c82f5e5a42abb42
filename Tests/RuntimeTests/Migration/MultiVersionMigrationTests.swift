import ConformanceModels
import Foundation
import Testing

@testable import Martlet

/// Migration blocks that migrate from several versions, and blocks with uncommon assignments.
@Suite struct MultiVersionMigrationTests {
    private static let types: [ObjectBase.Type] = [Node.self, Part.self, Screw.self]

    @Test("a property that was renamed twice is renamed step by step O71 O2") func chain() throws {
        let previous = try PreviousProgram(["object Keyless\nproperty s String"]) { _ = $0("Keyless", ["s": "kept"]) }
        let realm = try previous.migrated([Keyless.self], schemaVersion: 3) { migration, version in
            if version < 2 { migration.renameProperty(onType: "Keyless", from: "s", to: "between") }
            if version < 3 { migration.renameProperty(onType: "Keyless", from: "between", to: "content") }
        }
        #expect(realm.objects(Keyless.self).map(\.content) == ["kept"])
    }

    @Test("enumerating a type that is not in the file or in the schema yields no objects O71 O2") func unknownType()
        throws
    {
        let previous = try PreviousProgram(["object Keyless\nproperty title String"]) {
            _ = $0("Keyless", ["title": "a"])
        }
        let realm = try previous.migrated([Keyless.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Gone") { _, _ in Issue.record("there is none") }
        }
        #expect(realm.objects(Keyless.self).count == 1)
    }

    @Test("a primary key may be assigned its current value, and assigned unmanaged objects are added O71 O2")
    func assigning() throws {
        let schemaText = "object Node\nprimaryKey id\nproperty id Int\nproperty name String\nproperty title String"
        let previous = try PreviousProgram([schemaText]) { _ = $0("Node", ["id": 1, "name": "a", "title": "t"]) }
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
            let previous = try PreviousProgram(["object Node\nprimaryKey id\nproperty id Int\nproperty title String"]) {
                _ = $0("Node", ["id": 1])
            }
            _ = try previous.migrated(MultiVersionMigrationTests.types + [IntKey.self]) { migration, _ in
                migration.enumerateObjects(ofType: "Node") { _, new in new?["next"] = migration.create("IntKey") }
            }
        }
        expectMessage(result, "'Node.next' takes 'Node?', but was given 'IntKey {")
    }

    @Test("a new object can be created from an old one of another type, by common properties O71 O5") func shared()
        throws
    {
        let previous = try PreviousProgram(["object Before\nproperty content String\nproperty weight Double"]) {
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

    private func sharedParts() throws -> PreviousProgram {
        try PreviousProgram(Self.shared) { create in
            let screw = create("Screw", ["length": 3])
            let part = create("Part", ["name": "shared", "core": screw, "tags": ["x"]])
            _ = create("Part", ["name": "orphan"])
            let other = create("Part", ["name": "other"])
            _ = create("Node", ["id": 1, "part": part, "parts": [part, other, part]])
            _ = create("Node", ["id": 2, "part": part, "partsByName": ["k": part, "l": other]])
        }
    }

    @Test(
        "separateOwners copies shared objects of a type that becomes embedded, and deletes orphans O71 O20"
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

    @Test("the message for a renamed property that does not convert contains the property and the values O71 O2")
    func messages()
        throws
    {
        let previous = try PreviousProgram(["object IntKey\nprimaryKey id\nproperty id Int\nproperty number Data"]) {
            _ = $0("IntKey", ["id": 4, "number": Data([1])])
        }
        let openingError = previous.openingError([IntKey.self]) { migration, _ in
            migration.renameProperty(onType: "IntKey", from: "number", to: "content")
        }
        #expect(
            openingError?.message.contains("'IntKey.content' was 'Data' and is 'String'") == true,
            "\(openingError?.message ?? "")")
        #expect(openingError?.message.contains("of 'IntKey' 4") == true)
    }
}
