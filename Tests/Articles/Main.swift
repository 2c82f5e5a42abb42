import Foundation
import Martlet

/// Runs the examples of the articles that print something. Each example gets a default Realm with the same four dogs.
/// 'Tests/generated-check.sh' generates the array `examples`, which contains the names and functions of these examples.
@main
struct Main {
    static func main() throws {
        let realm = try Realm()
        for (name, body) in examples {
            print("== \(name)")
            let rex = try realm.write {
                realm.deleteAll()
                return addSample(realm)
            }
            do {
                try body(realm, realm.objects(Dog.self), rex)
            } catch {
                print("throws \(error)")
            }
            // The example may have changed the default configuration.
            Realm.Configuration.defaultConfiguration = Realm.Configuration()
            fflush(nil)
        }
    }

    /// Adds four dogs and two people, and returns the dog Rex. The person Anna lives in Oslo.
    private static func addSample(_ realm: Realm) -> Dog {
        let anna = Person(firstName: "Anna", lastName: "Berg", address: Address(street: "Storgata 1", city: "Oslo"))
        let bo = Person(firstName: "Bo", lastName: "Lund")
        anna.friends.append(bo)
        let rex = Dog(name: "Rex", age: 3, size: .large, owner: anna, story: "He was found in the snow.")
        let luna = Dog(name: "Luna", age: 1, owner: anna, isPuppy: true)
        let otto = Dog(name: "Otto", age: 7, size: .medium, owner: bo)
        realm.add([rex, luna, otto, Dog(name: "Ada")])
        rex.siblings.append(objectsIn: [luna, otto])
        rex.tags.insert("good")
        rex.tags.insert("brown")
        rex.weights["2026-05-01"] = 21.5
        rex.weights["2026-06-01"] = 22
        return rex
    }
}
