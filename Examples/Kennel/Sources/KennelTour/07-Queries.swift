import Martlet

/// A query is either a Swift condition with typed properties, or a text. The runtime checks such a text against the
/// schema.
func queries(_ realm: Realm) throws {
    chapter(7, "Queries")
    say("Typed queries: a wrong name or a wrong type does not compile. They run when their elements are accessed.")
    let dogs = realm.objects(Dog.self).sorted(byKeyPath: "name")
    show(
        "age > 2 && owner.firstName.starts(with: A)", dogs.where { $0.age > 2 && $0.owner.firstName.starts(with: "A") })
    show("tags.contains(good)", dogs.where { $0.tags.contains("good") })
    show("siblings.age < 2: any sibling is younger", dogs.where { $0.siblings.age < 2 })
    show("siblings.count == 0", dogs.where { $0.siblings.count == 0 })
    show("weights[2024] > 12", dogs.where { $0.weights["2024"] > 12 })

    say("The same queries as predicate texts. Values are passed as arguments, not in the text:")
    show(
        "age > %@ AND owner.firstName BEGINSWITH[c] %@",
        dogs.filter("age > %@ AND owner.firstName BEGINSWITH[c] %@", 2, "a"))
    show("NONE siblings.age < 2 SORT(age DESC) LIMIT(1)", dogs.filter("NONE siblings.age < 2 SORT(age DESC) LIMIT(1)"))

    say("Parsing a text from user input throws an error with the position of a mistake:")
    for text in ["agee > 2", "age > 'two'", "age > 2 AND"] {
        do {
            show("\(try dogs.filter(Realm.Predicate(parsing: text)).count) dogs")
        } catch let error as Realm.Error {
            show(error.message)
        }
    }

    say("Sorting, limits and aggregates:")
    show(dogs.sorted(byKeyPath: "age", ascending: false).limit(2).map { "\($0.name) \($0.age ?? 0)" })
    show("\(dogs.sum { $0.age }) years in all, the oldest is \(dogs.max { $0.age } ?? 0)")

    say("Properties with 'fullText: true' in the schema have a full-text index:")
    try realm.write { dogs.first?["story"] = "Found in the rain, behind the station." }
    show("story TEXT 'rain station -sun'", dogs.filter("story TEXT 'rain station -sun'"))
}
