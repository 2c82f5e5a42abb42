import Martlet

/// Sections group the elements of a collection by a property or by a closure.
func sections(_ realm: Realm) throws {
    chapter(8, "Sections")
    say("'sectioned' groups elements for a list on a screen. Sections are live, like all results:")
    let dogs = realm.objects(Dog.self).sorted(byKeyPath: "name")
    let sizes = dogs.sectioned(by: { $0.isPuppy ? "puppies" : "grown up" }, sortDescriptors: [])
    for section in sizes { show("\(section.key): \(section.map(\.name).joined(separator: ", "))") }
    try realm.write { dogs.where { $0.name == "Laika" }.first?.isPuppy = false }
    show("sections after the change: \(sizes.allKeys.joined(separator: ", "))")
    show("second dog of the first section: \(sizes[section: 0, item: 1].name)")
}
