import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// Links and owners in the file after migrations that change several types at once.
@Suite struct MigrationGraphTests {
    private static let types: [ObjectBase.Type] = [
        Node.self, Part.self, Screw.self, StringKey.self, IntKey.self, Renamed.self, Owner.self, Treasure.self,
        Keeper.self, Kept.self, Wide.self, Ring.self, Scalars.self,
    ]

    /// Returns a text for each fault in the file. A fault is a link to a missing type or row, a link that is missing in
    /// the index of links, or an embedded object that does not have exactly one owner.
    private func faults(_ realm: Realm) throws -> [String] {
        let context = realm.context
        var found: [String] = []
        var owners: [RowID: Int] = [:]
        for table in context.tables.values {
            for key in try context.handle.read({ try table.rows.keys($0) }) {
                for property in table.type.properties where property.isColumn || property.isCollection {
                    guard let name = property.element.target else { continue }
                    let title = "\(table.type.name) \(key).\(property.name)"
                    guard let target = context.table(named: name) else {
                        found.append("\(title): no type \(name)")
                        continue
                    }
                    for link in try context.handle.read({ try table.rows.targets(of: property, key, $0) }) {
                        if try !context.handle.read({ try target.rows.exists(link, $0) }) {
                            found.append("\(title): no row \(link)")
                        }
                        if property.element.isEmbedded { owners[RowID(table: target.id, key: link), default: 0] += 1 }
                        if try !context.handle.read({ try table.rows.holders(of: link, property, $0) }).contains(key) {
                            found.append("\(title): \(link) is not in the index")
                        }
                    }
                }
            }
        }
        for table in context.tables.values where table.type.isEmbedded {
            for key in try context.handle.read({ try table.rows.keys($0) }) {
                let count = owners[RowID(table: table.id, key: key), default: 0]
                if count != 1 { found.append("\(table.type.name) \(key): \(count) owners") }
            }
        }
        return found
    }

    /// Opens the file twice, and checks it each time with `faults` and `body`. The first opening migrates the file.
    private func open(
        _ previous: PreviousFile, version: UInt64 = 1, _ block: MigrationBlock? = nil, _ body: (Realm) throws -> Void
    ) throws {
        for _ in 0..<2 {
            let realm = try previous.migrated(Self.types, schemaVersion: version, block)
            #expect(try faults(realm) == [])
            try body(realm)
        }
    }

    @Test("deleteData keeps a type to which another type of the file still links O71 O68") func linkedType() throws {
        let previous = try PreviousFile([
            "object Node\nprimaryKey id\nproperty id Int",
            "object Gone\nproperty note String\nproperty other link:Gone?",
            "object Linking\nproperty gone link:Gone?\nproperty all List<link:Gone>\nproperty named Map<link:Gone?>",
            "object Lonely\nproperty other link:Lonely?",
        ]) { create in
            let gone = create("Gone", ["note": "old"])
            _ = create("Linking", ["gone": gone, "all": [gone, gone], "named": ["a": gone]])
            _ = create("Lonely", [:])
        }
        try open(previous) { migration, _ in
            #expect(migration.deleteData(forType: "Gone") && migration.deleteData(forType: "Lonely"))
        } _: { realm in
            #expect(realm.dynamicObjects("Gone").isEmpty && realm.context.table(named: "Lonely") == nil)
            let linking = try #require(realm.dynamicObjects("Linking").first)
            #expect(linking["gone"] == nil && linking.dynamicList("all").isEmpty)
        }
        try open(previous, version: 2) { migration, _ in
            for name in ["Linking", "Gone"] { #expect(migration.deleteData(forType: name)) }
        } _: { realm in
            #expect(realm.context.table(named: "Gone") == nil && realm.context.table(named: "Linking") == nil)
        }
    }

    @Test("an embedded type becomes top-level with a primary key, and links lead to its objects O70 O71")
    func becomesTopLevel() throws {
        let previous = try PreviousFile([
            "object Owner\nprimaryKey id\nproperty id String\nproperty guarded embedded:Treasure?",
            "embedded Treasure\nproperty id Int\nproperty name String",
        ]) { create in
            for id in 1...3 { _ = create("Owner", ["id": "\(id)", "guarded": ["id": 5, "name": "t\(id)"]]) }
        }
        #expect(previous.openingError(Self.types)?.code == .schemaMismatch)
        let error = previous.openingError(Self.types) { migration, _ in
            migration.enumerateObjects(ofType: "Treasure") { _, new in new?["id"] = 9 }
        }
        #expect(error?.message.contains("must be unique") == true, "\(error?.message ?? "")")
        try open(previous) { migration, _ in
            var next = 10
            migration.enumerateObjects(ofType: "Treasure") { _, new in
                new?["id"] = next
                next -= 3
            }
        } _: { realm in
            #expect(realm.objects(Owner.self).map { $0.guarded?.name } == ["t1", "t2", "t3"])
            #expect(realm.objects(Owner.self).map { $0.guarded?.id } == [10, 7, 4])
        }
    }

    @Test("all links remain when primary keys change, and when types and properties are renamed O70 O71")
    func changedKeys() throws {
        let previous = try PreviousFile([
            """
            object OldName
            primaryKey id
            property id String
            property title Int
            property link link:OldName?
            property items List<link:OldName>
            """, "object Node\nproperty id Int\nproperty named Map<link:Node?>\nproperty peers Set<link:Node>",
            "object Scalars\nprimaryKey id\nproperty id Int\nproperty anyValue AnyRealmValue",
        ]) { create in
            let all = (1...5).map { create("OldName", ["id": "\($0 * 7 % 5)", "title": $0]) }
            for (index, object) in all.enumerated() {
                object["link"] = all[(index + 1) % 5]
                object["items"] = [all[(index + 2) % 5], object, object]
            }
            let nodes = (1...3).map { create("Node", ["id": 10 - $0]) }
            for node in nodes {
                node["named"] = ["a": nodes[0], "b": nodes[2], "c": nil] as [String: Any?]
                node["peers"] = nodes
            }
            for (id, object) in (all + nodes).enumerated() {
                _ = create("Scalars", ["id": id, "anyValue": [object, ["k": object]] as [Any]])
            }
        }
        try open(previous) { migration, _ in
            migration.enumerateObjects(ofType: "OldName") { old, new in
                let target = old?["link"] as? MigrationObject
                if old?["title"] as? Int == 2 { new.map(migration.delete) }
                if old?["title"] as? Int == 4 { new?["other"] = target?["link"] }
            }
        } _: { realm in
            let all = realm.objects(Renamed.self)
            #expect(all.map(\.id) == [0, 1, 2, 3] && all.map(\.name) == ["5", "3", "1", "4"])
            #expect(all.map { $0.other?.id } == [2, 3, nil, 2])
            #expect(all.map { $0.children.map(\.id) } == [[0, 0], [0, 1, 1], [1, 2, 2], [2, 3, 3]])
            let nodes = realm.objects(Node.self)
            #expect(nodes.map(\.id) == [7, 8, 9] && nodes.allSatisfy { $0.peers.map(\.id).sorted() == [7, 8, 9] })
            #expect(nodes.allSatisfy { $0.named["a"]??.id == 9 && $0.named["b"]??.id == 7 && $0.named.count == 3 })
            let linked = realm.objects(Scalars.self).map { scalars -> Int? in
                guard case .list(let values) = scalars.anyValue, case .object(let object) = values[0] else {
                    return nil
                }
                return (object as? Renamed)?.id ?? (object as? Node)?.id
            }
            #expect(linked == [2, nil, 1, 3, 0, 9, 8, 7])
        }
    }

    @Test("a block can create and delete objects while it enumerates them O71") func nestedChanges() throws {
        let previous = try PreviousFile([
            "object Node\nprimaryKey id\nproperty id Int\nproperty name Int\nproperty next link:Node?\nproperty children List<link:Node>\nproperty named Map<link:Node?>\nproperty part link:Part?\nproperty parts List<link:Part>",
            "object Part\nproperty name String\nproperty node link:Node?",
        ]) { create in
            let nodes = (1...6).map { create("Node", ["id": $0, "name": $0]) }
            for (index, node) in nodes.enumerated() {
                node["next"] = nodes[(index + 1) % 6]
                node["children"] = nodes
                node["named"] = ["a": nodes[(index + 1) % 6]]
                node["part"] = create("Part", ["name": "p\(index)", "node": nodes[(index + 2) % 6]])
                node["parts"] = [create("Part", ["name": "q"]), create("Part", ["name": "r", "node": node])]
            }
        }
        try open(previous) { migration, _ in
            var count = 0
            migration.enumerateObjects(ofType: "Node") { old, new in
                count += 1
                if old?["id"] as? Int == 1, let next = new?["next"] as? MigrationObject { migration.delete(next) }
                if old?["id"] as? Int == 3 {
                    let made = migration.create(
                        "Node", value: ["id": 30, "next": old as Any, "part": old?["part"] as Any])
                    new?["children"] = [made, old?["next"]]
                    new?["parts"] = [old?["part"], old?["part"]]
                    new?["named"] = old?["named"]
                }
                if old?["id"] as? Int == 4 { new.map(migration.delete) }
                if old?["id"] as? Int == 6 {
                    migration.deleteData(forType: "Node")
                    migration.create("Node", value: ["id": 6, "parts": old?["parts"] as Any, "next": old as Any])
                }
            }
            #expect(count == 5)
        } _: { realm in
            let nodes = Array(realm.objects(Node.self))
            #expect(nodes.map(\.id) == [6] && nodes[0].parts.map(\.name) == ["q", "r"])
            #expect(nodes[0].parts.allSatisfy { $0.node == nil || $0.node == nodes[0] })
        }
    }

    private struct Stop: Error {}

    @Test("after an error of the block, the next opening migrates the unchanged file O71 O72 O61") func errors() throws
    {
        let previous = try PreviousFile([
            "object Keeper\nprimaryKey id\nproperty id String\nproperty guardedMap Map<link:Kept?>\nproperty ownedList List<link:Kept>",
            "object Kept\nprimaryKey name\nproperty name String",
        ]) { create in
            let kept = (1...3).map { create("Kept", ["name": "\($0)"]) }
            for id in 1...2 {
                _ = create(
                    "Keeper", ["id": "\(id)", "guardedMap": ["a": kept[0], "b": kept[1]], "ownedList": [kept[2]]])
            }
        }
        let before = previous.contents
        #expect(throws: Stop.self) {
            _ = try previous.migrated(Self.types) { migration, _ in
                migration.deleteData(forType: "Kept")
                throw Stop()
            }
        }
        let denied = previous.openingError(Self.types) { migration, _ in
            migration.enumerateObjects(ofType: "Kept") { old, new in
                if old?["name"] as? String == "1" { new.map(migration.delete) }
            }
            migration.enumerateObjects(ofType: "Keeper") { old, new in
                if old?["id"] as? String == "1" { new?["guardedMap"] = ["b": NSNull()] }
            }
        }
        #expect(denied?.code == .deletionDenied && previous.contents == before, "\(denied?.message ?? "")")
        try open(previous) { migration, _ in
            migration.enumerateObjects(ofType: "Kept") { old, new in
                if old?["name"] as? String == "1" { new.map(migration.delete) }
            }
            migration.enumerateObjects(ofType: "Keeper") { _, new in
                (new?["guardedMap"] as? Map<MigrationObject?>)?["a"] = nil
            }
            migration.enumerateObjects(ofType: "Keeper") { old, new in
                if old?["id"] as? String == "2" { new.map(migration.delete) }
            }
        } _: { realm in
            #expect(
                realm.objects(Keeper.self).map { $0.guardedMap.map { "\($0.key)\($0.value?.name ?? "-")" } } == [["b2"]]
            )
            #expect(realm.objects(Kept.self).map(\.name) == ["2"])
        }
    }
}
