import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Synchronization
import Testing

@testable import Martlet

/// The objects that a `migrationBlock` reads, changes, creates and deletes.
@Suite struct MigrationBlockTests {
    private static let keyless = "object Keyless\nproperty title String\nproperty months Int"

    @Test("the block is called once, with old and new objects and the old version O71 O2") func once() throws {
        let previous = try PreviousFile([Self.keyless], schemaVersion: 3) { create in
            for number in 1...3 { _ = create("Keyless", ["title": "t\(number)", "months": number * 12]) }
        }
        let calls = Mutex<[UInt64]>([])
        let block: MigrationBlock = { migration, version in
            calls.withLock { $0.append(version) }
            #expect(
                migration.oldSchema["Keyless"]?["months"] != nil && migration.newSchema["Keyless"]?["months"] == nil)
            migration.enumerateObjects(ofType: "Keyless") { old, new in
                #expect(new?["content"] as? String == "")
                new?["content"] = "\(old?["title"] as? String ?? "") \((old?["months"] as? Int ?? 0) / 12)"
            }
        }
        do {
            let realm = try previous.migrated([Keyless.self], schemaVersion: 5, block)
            #expect(realm.objects(Keyless.self).map(\.content) == ["t1 1", "t2 2", "t3 3"])
        }
        _ = try previous.migrated([Keyless.self], schemaVersion: 5, block)
        #expect(calls.withLock { $0 } == [3])
        #expect(try schemaVersionAtURL(previous.url) == 5)
    }

    @Test("the block is called even if only the schema version changes, but not for a new file O71 O2") func calls()
        throws
    {
        let count = Mutex(0)
        let block: MigrationBlock = { _, _ in count.withLock { $0 += 1 } }
        let previous = try PreviousFile(["object Keyless\nproperty content String"]) { create in
            _ = create("Keyless", ["content": "a"])
        }
        #expect(try previous.migrated([Keyless.self], schemaVersion: 0, block).objects(Keyless.self).count == 1)
        #expect(count.withLock { $0 } == 0)
        try previous.migrated([Keyless.self], schemaVersion: 1) { migration, _ in
            migration.enumerateObjects(ofType: "Keyless") { _, new in new?["content"] = "b" }
        }.write {}
        #expect(try previous.migrated([Keyless.self], schemaVersion: 1).objects(Keyless.self).first?.content == "b")
        try FileManager.default.removeItem(at: previous.url.deletingLastPathComponent())
        try FileManager.default.createDirectory(
            at: previous.url.deletingLastPathComponent(), withIntermediateDirectories: true)
        _ = try previous.migrated([Keyless.self], schemaVersion: 9, block)
        #expect(count.withLock { $0 } == 0)
    }

    @Test("new required properties and nil values get defaults; a generated default differs in each object O71 O35")
    func defaults()
        throws
    {
        let previous = try PreviousFile(["object Defaults\nproperty int Int?\nproperty word String?"]) { create in
            _ = create("Defaults", ["int": 5])
            _ = create("Defaults", ["word": "w"])
        }
        let realm = try previous.migrated([Defaults.self])
        let all = realm.objects(Defaults.self)
        #expect(Set(all.map(\.id)).count == 2 && Set(all.map(\.objectId)).count == 2)
        #expect(all.map(\.int).sorted() == [-42, 5] && Set(all.map(\.word)) == ["word", "w"])
        #expect(all.allSatisfy { $0.isTrue && $0.float == 1.5 && $0.grade == .best && $0.string == "text" })
    }

    @Test("raw values become enum cases, and raw values without a case are reported O71 O31") func enums() throws {
        let schemaText = [
            "object EnumHolder\nprimaryKey id\nproperty id Int\nproperty grade String\nproperty level Int"
        ]
        let previous = try PreviousFile(schemaText) { create in
            _ = create("EnumHolder", ["id": 1, "grade": "best", "level": 5])
            _ = create("EnumHolder", ["id": 2, "grade": "worst", "level": 6])
        }
        let openingError = previous.openingError([EnumHolder.self])
        #expect(openingError?.message.contains("a value does not convert ('worst' of 'EnumHolder' 2)") == true)
        #expect(openingError?.message.contains("(6 of 'EnumHolder' 2)") == true)
        let realm = try previous.migrated([EnumHolder.self]) { migration, _ in
            migration.enumerateObjects(ofType: "EnumHolder") { old, new in
                guard old?["level"] as? Int == 6 else { return }
                new?["grade"] = Grade.poor
                new?["level"] = 10
            }
        }
        #expect(realm.objects(EnumHolder.self).map(\.grade) == [.best, .poor])
        #expect(realm.objects(EnumHolder.self).map(\.level) == [.middle, .high])
    }

    /// The type `Node` under the earlier name `Knot`, with every kind of link.
    private static let graph = [
        """
        object Knot
        primaryKey id
        property id Int
        property title String
        property amount Double
        property next link:Knot?
        property children List<link:Knot>
        property peers Set<link:Knot>
        property named Map<link:Knot?>
        property part embedded:Part?
        property parts List<embedded:Part>
        property previous LinkingObjects<Knot.next>
        """,
        """
        embedded Part
        property name String
        property weight Double?
        property core embedded:Screw?
        property screws List<embedded:Screw>
        property tags List<String>
        """, "embedded Screw\nproperty length Int\nproperty thread String?",
    ]

    private func makeGraph() throws -> PreviousFile {
        try PreviousFile(Self.graph) { create in
            let a = create("Knot", ["id": 1, "title": "a", "amount": 1.5])
            let b = create("Knot", ["id": 2, "title": "b"])
            a["next"] = b
            a["children"] = [b, a, b]
            a["peers"] = [b]
            a["named"] = ["b": b, "none": NSNull()]
            a["part"] = [
                "name": "p", "core": ["length": 3], "screws": [["length": 4], ["length": 5]], "tags": ["x", "y"],
            ]
            a["parts"] = [["name": "q"], ["name": "r"]]
        }
    }

    private static let types: [ObjectBase.Type] = [Node.self, Part.self, Screw.self]

    @Test("links, embedded objects, lists, sets, maps and linking objects of old objects can be read O71 O12")
    func reading()
        throws
    {
        let seen = Mutex<[String]>([])
        _ = try makeGraph().migrated(Self.types + [IntKey.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Knot") { old, new in
                guard let old, old["id"] as? Int == 1, let new else { return }
                let next = old["next"] as? MigrationObject
                let children = old["children"] as? List<MigrationObject>
                let peers = old["peers"] as? MutableSet<MigrationObject>
                let named = old["named"] as? Map<MigrationObject?>
                let part = old["part"] as? MigrationObject
                let screws = part?["screws"] as? List<MigrationObject>
                let core = part?["core"] as? MigrationObject
                let previous = next?["previous"] as? LinkingObjects<MigrationObject>
                let found: [Any?] = [
                    next?["title"], children?.map { $0["id"] as? Int ?? 0 }, peers?.first?["title"],
                    named?.keys.sorted(),
                    part?["name"], (part?["tags"] as? List<String>).map(Array.init),
                    screws?.map { $0["length"] as? Int ?? 0 },
                    core?["length"], previous?.first?["title"], old.objectSchema.className, new.objectSchema.className,
                    old.realm == nil && new.realm == nil,
                ]
                seen.withLock { $0 = found.map { "\($0 ?? "nil")" } }
            }
        }
        #expect(
            seen.withLock { $0 } == [
                "b", "[2, 1, 2]", "b", "[\"b\", \"none\"]", "p", "[\"x\", \"y\"]", "[4, 5]", "3", "a", "Knot", "Knot",
                "true",
            ])
    }

    @Test("an old object that is assigned to a property becomes a link to its new object, or an embedded copy O71 O12")
    func assigningOldObjects()
        throws
    {
        let renamed = Self.graph.map {
            $0.replacingOccurrences(of: "Knot", with: "Node").replacingOccurrences(of: " title ", with: " name ")
        }
        let previous = try PreviousFile(renamed) { create in
            let a = create("Node", ["id": 1, "name": "a"])
            let b = create("Node", ["id": 2, "name": "b", "next": a])
            a["children"] = [b, a]
            a["part"] = ["name": "p", "core": ["length": 3], "tags": ["x"]]
        }
        let realm = try previous.migrated(Self.types) { migration, _ in
            migration.enumerateObjects(ofType: "Node") { old, new in
                guard let old, let new, old["id"] as? Int == 1 else { return }
                let children = old["children"] as? List<MigrationObject>
                new["next"] = children?.first
                new["peers"] = children
                new["named"] = ["x": children?[0], "y": nil]
                new["parts"] = [old["part"], ["name": "q", "node": old]]
                new["children"] = [old]
            }
        }
        let node = try #require(realm.object(ofType: Node.self, forPrimaryKey: 1))
        #expect(node.next?.name == "b" && node.peers.map(\.id).sorted() == [1, 2] && node.children.map(\.id) == [1])
        #expect(node.named["x"]??.id == 2 && node.named.keys.contains("y"))
        #expect(node.parts.map(\.name) == ["p", "q"] && node.parts[1].node == node)
        #expect(node.parts[0].core?.length == 3 && Array(node.parts[0].tags) == ["x"] && node.part?.core?.length == 3)
        #expect(realm.object(ofType: Node.self, forPrimaryKey: 2)?.parents.map(\.id) == [])
    }

    @Test(
        "a copy of an old object has the values of renamed properties, also in embedded objects O71 O12",
        arguments: [false, true])
    func copyingRenamed(_ isRebuilt: Bool) throws {
        let previous = try PreviousFile([
            "object Renamed\nprimaryKey id\nproperty id Int\nproperty title String\nproperty items List<link:Renamed>\n"
                + (isRebuilt ? "property extra Int" : ""),
            "object Node\nprimaryKey id\nproperty id Int\nproperty part embedded:Part?",
            "embedded Part\nproperty label String\nproperty weight Double?\nproperty words List<String>",
        ]) { create in
            let first = create("Renamed", ["id": 1, "title": "a"])
            first["items"] = [first]
            _ = create("Node", ["id": 1, "part": ["label": "p", "weight": 2, "words": ["x", "y"]]])
        }
        let realm = try previous.migrated([Renamed.self, Node.self, Part.self, Screw.self]) { migration, _ in
            migration.renameProperty(onType: "Part", from: "label", to: "name")
            migration.renameProperty(onType: "Part", from: "words", to: "tags")
            migration.enumerateObjects(ofType: "Node") { old, new in
                new?["parts"] = [old?["part"], old?["part"]]
                new?["part"] = old?["part"]
            }
            migration.enumerateObjects(ofType: "Renamed") { old, new in
                guard let old, let new else { return }
                migration.delete(new)
                let copy = migration.create("Renamed", value: old)
                #expect(copy["name"] as? String == "a")
            }
        }
        let node = try #require(realm.objects(Node.self).first)
        #expect(node.part?.name == "p" && node.part?.weight == 2 && node.part.map { Array($0.tags) } == ["x", "y"])
        #expect(
            node.parts.map(\.name) == ["p", "p"] && node.parts.map { Array($0.tags) } == [["x", "y"], ["x", "y"]])
        let copies = realm.objects(Renamed.self)
        #expect(copies.map(\.id) == [1] && copies.map(\.name) == ["a"])
    }

    @Test(
        "a block can create objects with nested values, and deleting an owner deletes its embedded objects O71 O5 O6"
    )
    func creating()
        throws
    {
        let renamed = Self.graph.map { $0.replacingOccurrences(of: "Knot", with: "Node") }
        let previous = try PreviousFile(renamed) { create in
            let a = create("Node", ["id": 1, "part": ["name": "p", "core": ["length": 3]]])
            _ = create("Node", ["id": 2, "next": a, "children": [a]])
            _ = create("Node", ["id": 3])
        }
        let realm = try previous.migrated(Self.types + [Defaults.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Node") { old, new in
                guard let new else { return }
                if old?["id"] as? Int == 1 { migration.delete(new) }
            }
            var ids: [Int] = []
            migration.enumerateObjects(ofType: "Node") { old, _ in ids.append(old?["id"] as? Int ?? 0) }
            #expect(ids == [2, 3])
            let created = migration.create(
                "Node", value: ["id": 9, "name": "made", "part": ["name": "own"], "next": ["id": 10]])
            created["children"] = [["id": 11], created]
            let plain = migration.create("Defaults")
            #expect(plain["int"] as? Int == -42 && plain["word"] as? String == "word")
            migration.create("Defaults", value: ["int": 7])
        }
        #expect(realm.objects(Node.self).map(\.id) == [2, 3, 9, 10, 11] && realm.objects(Defaults.self).count == 2)
        let second = try #require(realm.object(ofType: Node.self, forPrimaryKey: 2))
        #expect(second.next == nil && second.children.isEmpty)
        let created = try #require(realm.object(ofType: Node.self, forPrimaryKey: 9))
        #expect(created.part?.name == "own" && created.next?.id == 10 && created.children.map(\.id) == [11, 9])
        #expect(try integer("SELECT count(*) FROM Part", realm.context.handle) == 1)
        try realm.write { realm.add(Node(id: 12, part: Part(name: "new"))) }
        #expect(realm.object(ofType: Node.self, forPrimaryKey: 12)?.part?.name == "new" && created.part?.name == "own")
    }

    @Test("deleteData deletes all objects of a type, and removes a type that the program does not declare O71 O2")
    func deleteData()
        throws
    {
        let previous = try PreviousFile([
            "object Keyless\nproperty content String",
            "object Gone\nproperty other link:Keyless?\nproperty tags List<Int>",
        ]) { create in
            let kept = create("Keyless", ["content": "a"])
            _ = create("Gone", ["other": kept, "tags": [1]])
        }
        let realm = try previous.migrated([Keyless.self]) { migration, _ in
            #expect(migration.deleteData(forType: "Gone") && !migration.deleteData(forType: "Never"))
            #expect(migration.newSchema["Gone"] != nil)
            migration.enumerateObjects(ofType: "Keyless") { _, new in new.map(migration.delete) }
        }
        #expect(realm.objects(Keyless.self).isEmpty)
        #expect(
            try integer("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'Gone%'", realm.context.handle) == 0)
        #expect(realm.context.schema["Gone"] == nil)
        let empty = try PreviousFile(["object Keyless\nproperty content String"]) { create in
            for _ in 0..<3 { _ = create("Keyless", [:]) }
        }
        let emptied = try empty.migrated([Keyless.self]) { migration, _ in
            #expect(migration.deleteData(forType: "Keyless"))
        }
        #expect(emptied.isEmpty)
    }

    @Test("renameProperty renames properties and collections, and converts their values O71 O2") func renaming()
        throws
    {
        let previous = try PreviousFile([
            "object Node\nprimaryKey id\nproperty id Int\nproperty title Int\nproperty kids List<link:Node>\nproperty weight Double?"
        ]) { create in
            let a = create("Node", ["id": 1, "title": 77, "weight": -0.0])
            _ = create("Node", ["id": 2, "title": 78, "kids": [a, a]])
        }
        let realm = try previous.migrated(Self.types) { migration, _ in
            migration.renameProperty(onType: "Node", from: "title", to: "name")
            migration.renameProperty(onType: "Node", from: "kids", to: "children")
            migration.renameProperty(onType: "Node", from: "weight", to: "amount")
            migration.enumerateObjects(ofType: "Node") { _, new in
                #expect((new?["name"] as? String)?.hasPrefix("7") == true)
            }
        }
        #expect(realm.objects(Node.self).map(\.name) == ["77", "78"])
        let second = try #require(realm.object(ofType: Node.self, forPrimaryKey: 2))
        #expect(
            second.children.map(\.id) == [1, 1] && second.amount == 0 && second.children[0].parents.map(\.id) == [2, 2])
        #expect(second.children[0].amount.sign == .minus)
    }

    @Test("a renamed type is found by its old and its new name O71 O2") func renamedTypes() throws {
        let previous = try PreviousFile(["object OldName\nprimaryKey id\nproperty id Int\nproperty title Int"]) {
            create in
            _ = create("OldName", ["id": 1, "title": 5])
        }
        let realm = try previous.migrated([Renamed.self]) { migration, _ in
            for name in ["OldName", "Renamed"] {
                migration.enumerateObjects(ofType: name) { old, new in
                    #expect(old?["title"] as? Int == 5)
                    new?["name"] = (new?["name"] as? String ?? "") + "!"
                }
            }
        }
        #expect(realm.objects(Renamed.self).first?.name == "5!!")
    }

    @Test("full-text indexes contain the words of the migrated objects O71 O55", arguments: [true, false])
    func fullText(isConverted: Bool) throws {
        let schemaText =
            isConverted
            ? "object Indexed\nprimaryKey id\nproperty id Int\nproperty body Int\nproperty summary Int"
            : "object Indexed\nprimaryKey id\nproperty id Int\nproperty body String fullText\nproperty summary String? fullText"
        let previous = try PreviousFile([schemaText]) { create in
            for id in 1...3 {
                _ = create(
                    "Indexed", isConverted ? ["id": id, "body": id] : ["id": id, "body": "\(id)", "summary": "0"])
            }
        }
        let realm = try previous.migrated([Indexed.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Indexed") { old, new in
                if old?["id"] as? Int == 2 { new?["body"] = "a swift bird" }
                if old?["id"] as? Int == 3 { new.map(migration.delete) }
            }
        }
        let all = realm.objects(Indexed.self)
        #expect(
            all.where { $0.body.matches("bird") }.map(\.id) == [2]
                && all.where { $0.body.matches("1") }.map(\.id) == [1])
        #expect(all.where { $0.body.matches("2") }.isEmpty && all.where { $0.body.matches("3") }.isEmpty)
        #expect(all.where { $0.summary.matches("0") }.count == 2)
        try realm.write { realm.add(Indexed(id: 9, body: "another bird")) }
        #expect(all.where { $0.body.matches("bird") }.map(\.id) == [2, 9])
    }

    @Test("a shared object that becomes embedded is copied for each owner O71 O20") func embedding() throws {
        let previous = try PreviousFile([
            "object Node\nprimaryKey id\nproperty id Int\nproperty part link:Part?",
            "object Part\nproperty name String",
        ]) { create in
            let part = create("Part", ["name": "shared"])
            _ = create("Part", ["name": "alone"])
            for id in 1...2 { _ = create("Node", ["id": id, "part": part]) }
        }
        let openingError = previous.openingError(Self.types)
        #expect(openingError?.message.contains("no owner (number 2)") == true)
        #expect(openingError?.message.contains("several owners (number 1)") == true)
        let realm = try previous.migrated(Self.types) { migration, _ in
            migration.enumerateObjects(ofType: "Node") { old, new in new?["part"] = old?["part"] }
            migration.enumerateObjects(ofType: "Part") { old, new in
                if old?["name"] as? String == "alone" { new.map(migration.delete) }
            }
        }
        let nodes = Array(realm.objects(Node.self))
        #expect(nodes.map { $0.part?.name } == ["shared", "shared"] && nodes[0].part != nodes[1].part)
        #expect(try integer("SELECT count(*) FROM Part", realm.context.handle) == 2)
    }

    @Test("the block can assign new primary keys, and links still lead to the objects O71 O2") func keys() throws {
        let previous = try PreviousFile([
            "object Node\nproperty id Int\nproperty name String\nproperty next link:Node?\nproperty children List<link:Node>"
        ]) { create in
            let a = create("Node", ["id": 4, "name": "a"])
            let b = create("Node", ["id": 4, "name": "b", "next": a])
            a["children"] = [b, a]
        }
        #expect(previous.openingError(Self.types)?.message.contains("'Node.id' must be unique") == true)
        let realm = try previous.migrated(Self.types) { migration, _ in
            var next = 100
            migration.enumerateObjects(ofType: "Node") { _, new in
                new?["id"] = next
                next += 1
            }
        }
        let a = try #require(realm.object(ofType: Node.self, forPrimaryKey: 100))
        #expect(a.name == "a" && a.children.map(\.id) == [101, 100] && a.children[0].next == a)
        let text = try PreviousFile(["object StringKey\nproperty code String\nproperty content Int"]) { create in
            for _ in 0..<2 { _ = create("StringKey", ["code": "same"]) }
        }
        let keyed = try text.migrated([StringKey.self]) { migration, _ in
            var next = 0
            migration.enumerateObjects(ofType: "StringKey") { _, new in
                new?["code"] = "k\(next)"
                next += 1
            }
        }
        #expect(keyed.object(ofType: StringKey.self, forPrimaryKey: "k1") != nil)
    }

    @Test("assigning a value resolves a failed conversion, even if the value equals the current one O71 O30")
    func resolvedConversions() throws {
        let previous = try PreviousFile([
            "object ScalarLists\nprimaryKey id\nproperty id Int\nproperty ints List<String>\nproperty bools List<Date>"
        ]) { create in
            _ = create("ScalarLists", ["id": 1, "ints": ["1", "x"], "bools": [Date()]])
            _ = create("ScalarLists", ["id": 2, "ints": ["3"]])
        }
        #expect(
            previous.openingError([ScalarLists.self, Node.self, Part.self, Screw.self])?.message.contains("2 elements")
                == true)
        let realm = try previous.migrated([ScalarLists.self, Node.self, Part.self, Screw.self]) { migration, _ in
            migration.enumerateObjects(ofType: "ScalarLists") { old, new in
                guard old?["id"] as? Int == 1 else { return }
                new?["bools"] = [] as [Bool]
                (new?["ints"] as? List<Int>)?.append(1)
            }
        }
        #expect(realm.objects(ScalarLists.self).map { Array($0.ints) } == [[1], [3]])
    }

    @Test("a migration handles more objects than it keeps in memory at a time O71 O2") func many() throws {
        let previous = try PreviousFile([Self.keyless]) { create in
            for number in 0..<5_000 { _ = create("Keyless", ["title": "\(number)"]) }
        }
        let realm = try previous.migrated([Keyless.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Keyless") { old, new in
                new?["content"] = old?["title"]
                if let number = (old?["title"] as? String).flatMap({ Int($0) }), number % 1_000 == 0 {
                    migration.create("Keyless", value: ["content": "extra"])
                }
            }
        }
        #expect(realm.objects(Keyless.self).count == 5_005)
        #expect(
            realm.objects(Keyless.self).prefix(5_000).enumerated().allSatisfy { "\($0.offset)" == $0.element.content })
    }
}
