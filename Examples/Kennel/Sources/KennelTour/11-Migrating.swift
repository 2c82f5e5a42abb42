import Foundation
import Martlet

/// A file of last year becomes one of today: most of it by itself, the rest in a block.
func migrating(_ folder: URL) throws {
    chapter(11, "Migrating an old file")
    let url = folder.appending(path: "last-year.realm")
    say(
        "A file of last year has schema version \(try schemaVersionAtURL(url)). Opened as it is, it is refused, with what differs:"
    )
    do {
        _ = try Realm(configuration: Realm.Configuration(fileURL: url, schemaVersion: 1))
    } catch let error as Realm.Error where error.code == .schemaMismatch {
        show(error.message)
    }

    say("'renamedFrom' in the schema has kept people, who were called 'Human', and stories, which were called 'bio'.")
    say(
        "Ages were texts: numbers among them convert. One name became two, and what is no number is for the block to say:"
    )
    let configuration = Realm.Configuration(fileURL: url, schemaVersion: 2) { migration, oldSchemaVersion in
        guard oldSchemaVersion < 2 else { return }
        migration.enumerateObjects(ofType: "Person") { old, new in
            let names = (old?["fullName"] as? String ?? "").split(separator: " ", maxSplits: 1).map(String.init)
            new?["firstName"] = names.first ?? ""
            new?["lastName"] = names.count > 1 ? names[1] : ""
        }
        migration.enumerateObjects(ofType: "Dog") { old, new in
            if old?["age"] as? String == "young" { new?["age"] = 1 }
        }
    }
    let realm = try Realm(configuration: configuration)
    for dog in realm.objects(Dog.self).sorted(byKeyPath: "name") {
        let owner = dog.owner.map { "\($0.firstName) | \($0.lastName)" } ?? "nobody"
        show("\(dog.name), \(dog.age.map(String.init) ?? "?"), of \(owner): \(dog["story"] ?? "no story")")
    }
    show("schema version \(try schemaVersionAtURL(url))")
}
