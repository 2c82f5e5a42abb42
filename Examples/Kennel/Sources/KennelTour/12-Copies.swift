import Foundation
import Martlet

/// 'writeCopy' copies a Realm to another file. Compaction frees the space of deleted objects.
func copies(_ realm: Realm, _ folder: URL) throws {
    chapter(12, "Copies and compaction")
    say("'writeCopy' writes the committed state to another file, completely or not at all:")
    let copy = folder.appending(path: "copy.realm")
    try realm.writeCopy(toFile: copy)
    let configuration = Realm.Configuration(fileURL: copy)
    show("\(try dogCount(configuration)) dogs")
    try fillAndEmpty(configuration)

    say(
        "Deleted objects leave free space in the file. 'compact' and 'shouldCompactOnLaunch' return it to the system:"
    )
    let before = try Data(contentsOf: copy).count
    try Realm.compact(configuration: configuration)
    let after = try Data(contentsOf: copy).count
    show(
        "less than half: \(after < before / 2); all dogs are there: \(try dogCount(configuration) == realm.objects(Dog.self).count)"
    )

    say("'deleteFiles' deletes the database of a Realm that is not open, and its auxiliary files:")
    show("deleted: \(try Realm.deleteFiles(for: configuration)), exists: \(Realm.fileExists(for: configuration))")
}

private func fillAndEmpty(_ configuration: Realm.Configuration) throws {
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add((10..<5_000).map { Todo(id: $0, name: "Something to do, number \($0)") }) }
    try realm.write { realm.delete(realm.objects(Todo.self).where { $0.id >= 10 }) }
}

private func dogCount(_ configuration: Realm.Configuration) throws -> Int {
    try Realm(configuration: configuration).objects(Dog.self).count
}
