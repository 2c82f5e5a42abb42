import Foundation
import Martlet

/// The runtime migrates a file with an older schema. It converts most values automatically. A migration block converts
/// the remaining values.
func migrating(_ folder: URL) throws {
    chapter(11, "Migrating an old file")
    let url = folder.appending(path: "last-year.realm")
    say(
        "A file of last year has schema version \(try schemaVersionAtURL(url)). Without a migration it cannot be opened:"
    )
    do {
        _ = try Realm(configuration: Realm.Configuration(fileURL: url, schemaVersion: 1))
    } catch let error as Realm.Error where error.code == .schemaMismatch {
        show(error.message)
    }

    say("'renamedFrom' in the schema keeps the objects of 'Human', now 'Person', and the values of 'bio', now 'story'.")
    say(
        "Ages were texts, and numbers are converted automatically. The block converts other ages and splits names:"
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
