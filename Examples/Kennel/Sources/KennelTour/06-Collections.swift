import Martlet

/// Lists are ordered. Sets contain each element once. Maps have keys.
func collections(_ realm: Realm) throws {
    chapter(6, "Lists, sets and maps")
    let dogs = realm.objects(Dog.self).sorted(byKeyPath: "name")
    guard let rex = dogs.where({ $0.name == "Rex" }).first, let other = dogs.first else { return }
    try realm.write {
        say("A list is a Swift collection that can also move elements:")
        rex.siblings.append(objectsIn: dogs.where { $0.name != "Rex" })
        rex.siblings.append(other)
        show(rex.siblings.map(\.name))
        rex.siblings.move(from: 1, to: 0)
        rex.siblings.removeLast()
        show(rex.siblings.map(\.name))

        say("A set contains each element once:")
        rex.tags.insert(objectsIn: ["good", "fast", "good"])
        other.tags.insert(objectsIn: ["good", "loud"])
        show("\(rex.tags.sorted()), of which the other dog also has \(rex.tags.filter(other.tags.contains))")

        say("The keys of a map are strings. Assigning nil removes an entry:")
        rex.weights["2023"] = 11.5
        rex.weights["2024"] = 12.25
        rex.weights["2022"] = 9
        rex.weights["2022"] = nil
        show(rex.weights.map { "\($0.key): \($0.value) kg" }.sorted())
        show("on average \(rex.weights.average() ?? 0) kg")
    }
}
