import Foundation
import Martlet

/// A Realm is a file. It is opened where it is used, and knows the classes of the program by itself.
func opening(_ folder: URL) throws -> Realm {
    chapter(1, "Opening")
    say("A Realm is a file, made when it is opened first. Nothing has to be registered: it finds the classes it needs.")
    let configuration = Realm.Configuration(fileURL: folder.appending(path: "kennel.realm"))
    let realm = try Realm(configuration: configuration)
    show(realm.schema.objectSchema.map(\.className))
    show("empty: \(realm.isEmpty)")

    say("Opening it again on the same thread gives the same Realm; other threads open their own.")
    show("the same: \(try Realm(configuration: configuration) == realm)")

    say("What can go wrong in the world is thrown, with a code to catch and a sentence that helps:")
    do {
        let missing = folder.appending(path: "missing.realm")
        _ = try Realm(configuration: Realm.Configuration(fileURL: missing, readOnly: true))
    } catch let error as Realm.Error where error.code == .fileNotFound {
        show(error.message)
    }
    return realm
}
