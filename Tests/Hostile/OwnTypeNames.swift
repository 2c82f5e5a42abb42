import Foundation
import Martlet

// OwnTypeNames.yaml gives properties, cases and key paths the names of their own types. This program uses the generated
// names, and checks to which declarations they refer.
var failures = 0

@MainActor func check<Value: Equatable>(_ name: String, _ value: Value, _ expected: Value) {
    guard value != expected else { return }
    failures += 1
    print("\(name): \(value) is not \(expected)")
}

check("an optional default named none", Dog().Size, .some(.none))
check("a default of an enum with a case of the same name", Cat().Size, Size.none)
check("the raw value of the case 'Size'", Size.Size.rawValue, "Size")
check("a default of an optional", Home().Size, .some(.small))
check("one path", Dog.KeyPaths.Dog.keyPath, "Dog.Size")
check("through a collection", Dog.KeyPaths.Cat.keyPath, "Cat.Dog.Size")
check("a list of paths", Dog.KeyPaths.Size.map(\.keyPath), ["Size", "Dog.Cat.Dog.Size", "Home.Size"])
check("through a deprecated property", Dog.KeyPaths.Home.keyPath, "old.Dog.Size")
check("an element property with the name of a collection member", Dog.KeyPaths.count.keyPath, "packs.count")

let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "own names"))
let friend = Dog(Size: .small)
let dog = Dog(Dog: friend, Size: .Size, Cat: [Cat(Dog: friend)], Home: Home(Dog: "y"))
try realm.write { realm.add(dog) }
let card = Card(projecting: dog)
check("a label", card.Dog, .small)
check("a projected collection", Array(card.Cat), [Size.none])
check("a label named like its projection", card.Card, "y")
check("a query", realm.objects(Dog.self).where { $0.Dog.Size == .small }.count, 1)
check("a query for none", realm.objects(Dog.self).filter { $0.Size == .some(.none) }.count, 0)
exit(failures == 0 ? 0 : 1)
