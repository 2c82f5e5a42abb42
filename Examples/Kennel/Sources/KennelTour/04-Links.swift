import Martlet

/// A link is a property whose value is another object. The schema declares the inverse of a link, and the runtime
/// computes the linking objects.
func links(_ realm: Realm) throws {
    chapter(4, "Links and their inverses")
    say("A dog links to its owner. 'Person.dogs' is declared as 'LinkingObjects<Dog.owner>' and always up to date:")
    let dogs = realm.objects(Dog.self)
    guard let ada = realm.objects(Person.self).where({ $0.firstName == "Ada" }).first else { return }
    try realm.write {
        for dog in dogs.where({ $0.name.in(["Rex", "Laika"]) }) { dog.owner = ada }
    }
    show(ada.dogs.map(\.name))

    say("Links to a deleted object become nil, and it is removed from lists. The object itself is invalidated:")
    let visitor = Person(firstName: "Kurt")
    let bello = dogs.where { $0.name == "Bello" }.first
    try realm.write { bello?.owner = visitor }
    show("Bello belongs to \(bello?.owner?.firstName ?? "nobody")")
    try realm.write { realm.delete(visitor) }
    show("Bello belongs to \(bello?.owner?.firstName ?? "nobody"); Kurt is invalidated: \(visitor.isInvalidated)")
}
