import Martlet
import ZooModels

let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "zoo"))
let savannah = Enclosure(name: "Savannah")
try realm.write {
    realm.add(Animal(id: 1, name: "Lion", diet: .meat, weight: 190, enclosure: savannah))
    realm.add(Animal(id: 2, name: "Zebra", diet: .plants, enclosure: savannah))
}
for animal in realm.objects(Animal.self).where({ $0.enclosure.name == "Savannah" }) {
    print(animal.name, animal.weight.map { "\($0) kg" } ?? "not weighed")
}
