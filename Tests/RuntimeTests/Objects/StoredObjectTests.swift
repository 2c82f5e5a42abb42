import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Objects of types that are stored in the file, and that the program does not declare.
@Suite struct StoredObjectTests {
    private static let schemaTexts = [
        """
        object Undeclared
        primaryKey id
        property id Int
        property name String
        property note String?
        property weight Double
        property extra AnyRealmValue
        property friend link:Undeclared?
        property friends List<link:Undeclared>
        property tags Set<String>
        property marks Map<Int?>
        property admirers LinkingObjects<Undeclared.friend>
        """
    ]

    private func opened() throws -> (PreviousFile, Realm) {
        let previous = try PreviousFile(Self.schemaTexts) { create in
            let first = create("Undeclared", ["id": 1, "name": "a", "tags": ["x", "y"], "weight": -0.0])
            _ = create(
                "Undeclared",
                ["id": 2, "name": "b", "friend": first, "friends": [first], "marks": ["m": 1], "extra": first])
        }
        return (previous, try Realm(configuration: previous.configuration([Scalars.self], schemaVersion: 0)))
    }

    @Test("objects of types without a class are read by the names of types and properties O12") func reading() throws {
        let (previous, realm) = try opened()
        let all = realm.dynamicObjects("Undeclared")
        #expect(all.count == 2 && all.map { $0.name as? String } == ["a", "b"])
        let second = try #require(realm.dynamicObject(ofType: "Undeclared", forPrimaryKey: 2))
        #expect((second.friend as? DynamicObject)?.id as? Int == 1 && second.note == nil)
        #expect(second.dynamicList("friends").map { ($0 as? DynamicObject)?.id as? Int } == [1])
        #expect(second.dynamicMap("marks")["m"] as? Int == 1)
        let first = try #require(all.filter("name == 'a'").first)
        #expect(first.dynamicSet("tags").contains("y") && (first.weight as? Double)?.sign == .minus)
        #expect((first.admirers as? [DynamicObject])?.map { $0.id as? Int } == [2])
        #expect((second.extra as? DynamicObject) == first)
        #expect(all.sorted(byKeyPath: "id", ascending: false).first == second)
        #expect(realm.schema["Undeclared"] == nil && first.object is StoredObject)
        withExtendedLifetime(previous) {}
    }

    @Test("objects of types without a class can be changed, created and deleted O5 O6 O12") func writing() throws {
        let (previous, realm) = try opened()
        let second = try #require(realm.dynamicObject(ofType: "Undeclared", forPrimaryKey: 2))
        try realm.write {
            second.name = "B"
            let third = realm.dynamicCreate("Undeclared", value: ["id": 3, "name": "c", "friend": second.object])
            second.dynamicList("friends").append(third)
            realm.add(Scalars(id: 1, anyValue: .object(third.object)))
            #expect(third.note == nil && third.weight as? Double == 0)
        }
        #expect(realm.dynamicObjects("Undeclared").filter("friend.name == 'B'").map { $0.id as? Int } == [3])
        try realm.write {
            realm.delete(try #require(realm.dynamicObject(ofType: "Undeclared", forPrimaryKey: 1)).object)
        }
        #expect(second.friend == nil && second.extra == nil && second.dynamicList("friends").count == 1)
        let scalars = realm.objects(Scalars.self)[0]
        #expect(scalars.anyValue.object(StoredObject.self)?["name"] as? String == "c")
        try realm.write { realm.delete(try #require(scalars.anyValue.object(StoredObject.self))) }
        #expect(scalars.anyValue == .none)
        withExtendedLifetime(previous) {}
    }
}
