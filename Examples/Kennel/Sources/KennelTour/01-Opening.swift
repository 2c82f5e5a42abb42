import Foundation
import Martlet

/// A Realm stores its objects in a file. Each thread opens its own Realm of this file. The runtime finds the classes of
/// the program, so they do not have to be registered.
func opening(_ folder: URL) throws -> Realm {
    chapter(1, "Opening")
    say("A Realm is a file. It is created when it is first opened. No class has to be registered.")
    let configuration = Realm.Configuration(fileURL: folder.appending(path: "kennel.realm"))
    let realm = try Realm(configuration: configuration)
    show(realm.schema.objectSchema.map(\.className))
    show("empty: \(realm.isEmpty)")

    say("Opening it again on the same thread returns an equal Realm. Other threads open their own.")
    show("equal: \(try Realm(configuration: configuration) == realm)")

    say("Errors at run time are thrown, with a code to catch and a message:")
    do {
        let missing = folder.appending(path: "missing.realm")
        _ = try Realm(configuration: Realm.Configuration(fileURL: missing, readOnly: true))
    } catch let error as Realm.Error where error.code == .fileNotFound {
        show(error.message)
    }
    return realm
}
