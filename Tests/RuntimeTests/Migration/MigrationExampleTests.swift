import Foundation
import KennelModels
import MartletEngine
import Testing

@testable import Martlet

/// Runs the migration block that the documentation article on migrations shows.
@Suite struct MigrationExampleTests {
    @Test("the migration block of the article migrates the file as described O2") func example() throws {
        let previous = try PreviousFile([
            "object Person\nproperty fullName String",
            "object Dog\nprimaryKey id\nproperty id ObjectId\nproperty name String\nproperty years Int\nproperty owner link:Person?",
            "object Cat\nproperty name String",
        ]) { create in
            let owner = create("Person", ["fullName": "Kari Nordmann Hansen"])
            _ = create("Person", ["fullName": "Ola"])
            _ = create("Dog", ["id": ObjectId.generate(), "name": "Rex", "years": 4, "owner": owner])
            _ = create("Cat", ["name": "Tom"])
        }
        let url = previous.url
        let configuration = Realm.Configuration(fileURL: url, schemaVersion: 3) { migration, oldSchemaVersion in
            if oldSchemaVersion < 2 {
                migration.enumerateObjects(ofType: "Person") { old, new in
                    let parts = (old?["fullName"] as? String ?? "").split(separator: " ", maxSplits: 1)
                    new?["firstName"] = parts.first.map(String.init) ?? ""
                    new?["lastName"] = parts.count > 1 ? String(parts[1]) : ""
                }
            }
            if oldSchemaVersion < 3 {
                migration.renameProperty(onType: "Dog", from: "years", to: "age")
                migration.deleteData(forType: "Cat")
            }
        }
        var restricted = configuration
        restricted.objectTypes = [Person.self, Dog.self, Address.self]
        let realm = try Realm(configuration: restricted)
        #expect(realm.objects(Person.self).map(\.firstName) == ["Kari", "Ola"])
        #expect(realm.objects(Person.self).map(\.lastName) == ["Nordmann Hansen", ""])
        let dog = try #require(realm.objects(Dog.self).first)
        #expect(dog.age == 4 && dog.name == "Rex" && dog.owner?.firstName == "Kari" && dog.size == .small)
        #expect(realm.context.schema["Cat"] == nil)
    }
}
