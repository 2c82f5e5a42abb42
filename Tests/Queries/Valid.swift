// Valid typed queries. Tests/generated-check.sh compiles them with the models of Schemas/Kennel.
import Foundation
import Martlet

func validQueries(_ realm: Realm, _ person: Person, _ dog: Dog) {
    let dogs = realm.objects(Dog.self)
    let people = realm.objects(Person.self)
    _ = dogs.where { $0.age > 5 && $0.owner.lastName.starts(with: "M") }
    _ = dogs.where { $0.age == nil || $0.age != 3 || !($0.age <= 9) }
    _ = dogs.where { $0.isPuppy && !$0.isPuppy }
    _ = dogs.where { $0.isPuppy }
    _ = dogs.where { $0.size == .small || $0.size.in([.medium, .large]) || $0.bornIn == .norway || $0.bornIn == nil }
    _ = dogs.where { $0.age.contains(1..<5) || $0.age.contains(1...5) || $0.name.in(["Rex", "Fido"]) }
    _ = dogs.where {
        $0.name.contains("e", options: [.caseInsensitive, .diacriticInsensitive]) || $0.name.like("R?x*")
    }
    _ = dogs.where { $0.name == $0.favoriteToy || $0.kennel < $0.number }
    _ = dogs.where { $0.owner == person || $0.owner == nil || $0.owner.in([person]) || $0.owner != person }
    _ = dogs.where {
        $0.siblings.contains(dog) || $0.siblings.age > 3 || $0.siblings.count == 2 || $0.siblings.age.max > 9
    }
    _ = dogs.where { ($0.siblings.age > 3 && $0.siblings.name == "Rex").count >= 2 }
    _ = dogs.where { $0.tags.contains("good") || $0.tags.containsAny(in: ["a", "b"]) || $0.tags.count > 1 }
    _ = dogs.where {
        $0.weights["2024"] > 3.5 || $0.weights["x"] == nil || $0.weights.values > 9 || $0.weights.keys == "a"
    }
    _ = dogs.where { $0.weights.sum > 3 && $0.weights.avg < 9 || $0.weights.contains(3.5) }
    _ = dogs.where {
        $0.notes.matches("good -bad") && $0.owner.dogs.count > 1 && $0.owner.friends.address.city == "Oslo"
    }
    _ = people.where { $0.dogs.age > 3 && $0.address.city == "Oslo" }
    _ = dogs.filter("age > %@ AND owner.lastName BEGINSWITH[c] 'm'", 5).sorted { $0.age }.distinct { $0.name }.limit(5)
}
