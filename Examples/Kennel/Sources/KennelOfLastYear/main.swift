import Foundation
import Martlet

// This is the program of last year. Its schema has version 1. In this version, a person has one name, and the age of a
// dog is a text.
guard let path = CommandLine.arguments.dropFirst().first else {
    FileHandle.standardError.write(Data("usage: KennelOfLastYear <file to write>\n".utf8))
    exit(2)
}
let realm = try Realm(configuration: .init(fileURL: URL(fileURLWithPath: path), schemaVersion: 1))
try realm.write {
    let ada = Human(fullName: "Ada Lovelace")
    realm.add(Dog(name: "Rex", age: "7", bio: "Found in the rain", owner: ada))
    realm.add(Dog(name: "Fido", age: "young", owner: ada))
}
