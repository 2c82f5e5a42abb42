import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Links in `AnyRealmValue` properties during migrations. The migrations change or delete the linked objects, or assign
/// the links to new objects.
@Suite struct AnyLinkMigrationTests {
    /// Creates the treasures '7' and '5', and a holder for each. A holder links to its treasure in a map and in a list.
    private func previousFile(idType: String = "Int") throws -> PreviousFile {
        let types = [
            "object Treasure\nprimaryKey id\nproperty id \(idType)\nproperty name String",
            "object Holder\nproperty any AnyRealmValue\nproperty list List<AnyRealmValue>",
        ]
        return try PreviousFile(types) { create in
            for name in ["7", "5"] {
                let treasure = create("Treasure", ["id": idType == "Int" ? Int(name) ?? 0 : name, "name": name])
                _ = create("Holder", ["any": ["t": treasure], "list": [1, treasure]])
            }
        }
    }

    /// Returns the names of the treasures to which the map and the list of each holder link.
    private func treasureNames(_ realm: Realm) -> [[String?]] {
        realm.dynamicObjects("Holder").map { holder in
            let value = (holder.any as? [String: Any?])?["t"] as? ObjectBase
            let element = (holder.dynamicList("list")[1] as? DynamicObject)?.object
            return [value?["name"] as? String, element?["name"] as? String]
        }
    }

    @Test("links still lead to rows whose keys change, and become nil when the rows are deleted O6 O32")
    func keys() throws {
        let previous = try previousFile(idType: "String")
        let realm = try previous.migrated([Treasure.self, Owner.self])
        #expect(realm.objects(Treasure.self).map(\.id) == [5, 7])
        #expect(treasureNames(realm) == [["7", "7"], ["5", "5"]])
        try realm.write { realm.delete(try #require(realm.object(ofType: Treasure.self, forPrimaryKey: 7))) }
        #expect(treasureNames(realm) == [[nil, nil], ["5", "5"]])
    }

    @Test("links become nil when a migration or a later write deletes their targets O6 O32")
    func deletion() throws {
        let previous = try previousFile()
        let realm = try previous.migrated([Treasure.self, Owner.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Treasure") { old, new in
                if old?["name"] as? String == "7", let new { migration.delete(new) }
            }
        }
        #expect(realm.objects(Treasure.self).map(\.id) == [5])
        #expect(treasureNames(realm) == [[nil, nil], ["5", "5"]])
        try realm.write { realm.delete(realm.objects(Treasure.self)) }
        #expect(treasureNames(realm) == [[nil, nil], [nil, nil]])
    }

    @Test("old values with links can be assigned to new objects O6 O32") func values() throws {
        let types = [
            "object Treasure\nprimaryKey id\nproperty id Int\nproperty name String",
            "object Scalars\nproperty anyValue AnyRealmValue\nproperty old AnyRealmValue",
        ]
        let previous = try PreviousFile(types) { create in
            let treasure = create("Treasure", ["id": 1, "name": "gold"])
            _ = create("Scalars", ["anyValue": 5, "old": ["t": treasure]])
        }
        let realm = try previous.migrated([Treasure.self, Owner.self, Scalars.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Scalars") { old, new in new?["anyValue"] = old?["old"] }
        }
        let scalars = realm.objects(Scalars.self)[0]
        #expect(scalars.anyValue["t"]?.object(Treasure.self)?.name == "gold")
        try realm.write { realm.delete(realm.objects(Treasure.self)) }
        #expect(scalars.anyValue == .map(["t": .none]))
    }
}
