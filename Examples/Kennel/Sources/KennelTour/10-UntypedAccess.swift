import Martlet

/// Tools, tests and generic screens can access properties by name.
func untypedAccess(_ realm: Realm) throws {
    chapter(10, "Access by name")
    say("The schema of a class is available at run time:")
    let schema = realm.schema["Person"]
    show(schema?.properties.map { "\($0.name)" } ?? [])
    show(schema?.computedProperties.map { "computed: \($0.name)" } ?? [])

    say("Properties can be read and set by name:")
    guard let bello = realm.dynamicObjects("Dog").filter("name == 'Bello'").first else { return }
    try realm.write {
        bello["age"] = 10
        bello["owner"] = realm.dynamicObjects("Person").first
        bello.dynamicSet("tags").insert("old")
    }
    for name in ["name", "age", "isPuppy"] { show("\(name): \(bello[name] ?? "nil")") }
    let owner = bello["owner"] as? DynamicObject
    show("owner: \(owner?["firstName"] ?? "nobody")")
}
