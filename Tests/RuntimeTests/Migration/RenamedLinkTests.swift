import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Migration blocks that rename properties with links or embedded objects, delete the targets of links, or leave links
/// to objects of a type that becomes embedded.
@Suite struct RenamedLinkTests {
    private static let types: [ObjectBase.Type] = [Node.self, Part.self, Screw.self]

    /// Deletes the nodes and treasures with the id 3.
    private static func deleteThird(_ migration: Migration) {
        for type in ["Node", "Treasure"] {
            migration.enumerateObjects(ofType: type) { old, new in
                if old?["id"] as? Int == 3, let new { migration.delete(new) }
            }
        }
    }

    @Test("renameProperty does not copy links to objects that the block has deleted O71 O6") func deletedTargets()
        throws
    {
        let node = """
            object Node
            primaryKey id
            property id Int
            property after link:Node?
            property kids List<link:Node>
            property mates Set<link:Node>
            property labels Map<link:Node?>
            property bolt embedded:Part?
            """
        let previous = try PreviousFile([node, "embedded Part\nproperty name String"]) { create in
            let (b, c) = (create("Node", ["id": 2]), create("Node", ["id": 3]))
            b["after"] = b
            _ = create(
                "Node",
                [
                    "id": 1, "after": c, "kids": [c, b, c], "mates": [c, b], "labels": ["b": b, "c": c],
                    "bolt": ["name": "p"],
                ])
        }
        let names = [
            ("after", "next"), ("kids", "children"), ("mates", "peers"), ("labels", "named"), ("bolt", "part"),
        ]
        let realm = try previous.migrated(Self.types) { migration, _ in
            Self.deleteThird(migration)
            migration.enumerateObjects(ofType: "Part") { _, new in new.map(migration.delete) }
            for (old, new) in names { migration.renameProperty(onType: "Node", from: old, to: new) }
        }
        try realm.write { realm.add(Node(id: 3)) }
        let nodes = Array(realm.objects(Node.self))
        #expect(nodes.map(\.id) == [1, 2, 3] && nodes[0].part == nil)
        #expect(nodes.map { $0.next?.id } == [nil, 2, nil])
        #expect(nodes[0].children.map(\.id) == [2] && nodes[0].peers.map(\.id) == [2])
        #expect(nodes[0].named.count == 2 && nodes[0].named["b"]??.id == 2)
        #expect(nodes[0].named.contains { $0.key == "c" && $0.value == nil })
        #expect(nodes[2].previous.isEmpty && nodes[2].parents.isEmpty && nodes[2].namedBy.isEmpty)
    }

    @Test("renameProperty does not copy links in AnyRealmValues to objects that the block has deleted O71 O6 O32")
    func deletedTargetsInAnyValues() throws {
        let previous = try PreviousFile([
            "object Node\nprimaryKey id\nproperty id Int",
            "object Scalars\nprimaryKey id\nproperty id Int\nproperty any AnyRealmValue",
            "object ScalarLists\nprimaryKey id\nproperty id Int\nproperty any List<AnyRealmValue>",
            "object ScalarSets\nprimaryKey id\nproperty id Int\nproperty any Set<AnyRealmValue>",
            "object ScalarMaps\nprimaryKey id\nproperty id Int\nproperty any Map<AnyRealmValue>",
        ]) { create in
            let (b, c) = (create("Node", ["id": 2]), create("Node", ["id": 3]))
            for (id, value) in [c, b, [1, ["k": c, "b": b]]].enumerated() {
                _ = create("Scalars", ["id": id, "any": value])
            }
            _ = create("ScalarLists", ["id": 1, "any": [c, b, [c]]])
            _ = create("ScalarSets", ["id": 1, "any": [c, b, 5]])
            _ = create("ScalarMaps", ["id": 1, "any": ["b": b, "c": c]])
        }
        let types = Self.types + [Scalars.self, ScalarLists.self, ScalarSets.self, ScalarMaps.self]
        let realm = try previous.migrated(types) { migration, _ in
            Self.deleteThird(migration)
            migration.renameProperty(onType: "Scalars", from: "any", to: "anyValue")
            for type in ["ScalarLists", "ScalarSets", "ScalarMaps"] {
                migration.renameProperty(onType: type, from: "any", to: "anyValues")
            }
        }
        try realm.write { realm.add(Node(id: 3)) }
        let link = AnyRealmValue.object(try #require(realm.object(ofType: Node.self, forPrimaryKey: 2)))
        let values = realm.objects(Scalars.self).sorted(by: \.id).map(\.anyValue)
        #expect(values == [.none, link, .list([.int(1), .map(["k": .none, "b": link])])])
        #expect(Array(realm.objects(ScalarLists.self)[0].anyValues) == [.none, link, .list([.none])])
        let set = realm.objects(ScalarSets.self)[0].anyValues
        #expect(set.count == 2 && set.contains(link) && set.contains(.int(5)))
        let map = realm.objects(ScalarMaps.self)[0].anyValues
        #expect(map.count == 2 && map["b"] == link && map["c"] == AnyRealmValue.none)
    }

    @Test("a type that the program does not declare stays if the block creates objects after deleteData O71 O2")
    func createdAfterDeleteData() throws {
        let previous = try PreviousFile([
            "object Keyless\nproperty content String", "object Scalars\nproperty anyValue AnyRealmValue",
            "object Gone\nproperty note String",
        ]) { create in
            _ = create("Gone", ["note": "old"])
            _ = create("Scalars", [:])
        }
        let realm = try previous.migrated([Keyless.self, Scalars.self]) { migration, _ in
            #expect(migration.deleteData(forType: "Gone"))
            let made = migration.create("Gone", value: ["note": "new"])
            migration.enumerateObjects(ofType: "Scalars") { _, new in new?["anyValue"] = made }
        }
        #expect(realm.dynamicObjects("Gone").map { $0["note"] as? String } == ["new"])
        guard case .object(let made) = realm.objects(Scalars.self)[0].anyValue else {
            Issue.record("the link is lost")
            return
        }
        #expect(made["note"] as? String == "new")
        try realm.write { realm.delete(made) }
        #expect(realm.objects(Scalars.self)[0].anyValue == .none)
    }

    @Test("renaming an embedded property to two properties fails unless separateOwners copies the objects O71 O20")
    func copiedTwice() throws {
        let previous = try PreviousFile([
            "object Node\nprimaryKey id\nproperty id Int\nproperty bolt embedded:Part?",
            "embedded Part\nproperty name String\nproperty core embedded:Screw?", "embedded Screw\nproperty length Int",
        ]) { create in
            for id in 1...2 { _ = create("Node", ["id": id, "bolt": ["name": "p\(id)", "core": ["length": id]]]) }
        }
        let before = previous.contents
        let rename: @Sendable (Migration) -> Void = { migration in
            for name in ["part", "parts"] { migration.renameProperty(onType: "Node", from: "bolt", to: name) }
        }
        let openingError = previous.openingError(Self.types) { migration, _ in rename(migration) }
        #expect(openingError?.code == .schemaMismatch && previous.contents == before)
        #expect(
            openingError?.message.contains(
                "'Part' is embedded, and 2 of its objects have several owners (number 1, number 2)") == true,
            "\(openingError?.message ?? "")")
        let realm = try previous.migrated(Self.types) { migration, _ in
            rename(migration)
            migration.separateOwners(ofType: "Part")
        }
        let nodes = Array(realm.objects(Node.self))
        #expect(nodes.map { $0.part?.name } == ["p1", "p2"] && nodes.map { $0.parts[0].name } == ["p1", "p2"])
        #expect(nodes.allSatisfy { $0.part?.isSameObject(as: $0.parts[0]) == false })
        try realm.write { for node in nodes { node.part = nil } }
        #expect(nodes.map { $0.parts[0].core?.length } == [1, 2])
    }

    @Test("a migration fails if AnyRealmValues contain objects of a type that becomes embedded O70 O20 O32")
    func embeddedInAnyValues()
        throws
    {
        let previous = try PreviousFile([
            "object Node\nprimaryKey id\nproperty id Int\nproperty part link:Part?",
            "object Part\nproperty name String",
            "object Scalars\nproperty anyValue AnyRealmValue",
        ]) { create in
            let part = create("Part", ["name": "p"])
            _ = create("Node", ["id": 1, "part": part])
            _ = create("Scalars", ["anyValue": [1, part]])
        }
        let before = previous.contents
        let types = Self.types + [Scalars.self]
        let openingError = previous.openingError(types)
        #expect(openingError?.code == .schemaMismatch && previous.contents == before)
        #expect(
            openingError?.message.contains(
                "'Part' is embedded now, and 1 of its objects has links from values of type "
                    + "'AnyRealmValue' (number 1): replace these values in the 'migrationBlock'") == true,
            "\(openingError?.message ?? "")")
        let realm = try previous.migrated(types) { migration, _ in
            migration.enumerateObjects(ofType: "Scalars") { _, new in new?["anyValue"] = 5 }
        }
        #expect(realm.objects(Scalars.self)[0].anyValue == .int(5) && realm.objects(Node.self)[0].part?.name == "p")
    }
}
