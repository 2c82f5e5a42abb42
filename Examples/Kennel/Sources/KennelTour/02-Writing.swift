import Martlet

/// All changes are made in the block of 'write'. The Realm stores either all changes of the block, or none of them.
func writing(_ realm: Realm) throws {
    chapter(2, "Writing")
    say("A new object is unmanaged. When it is added to a Realm it is stored, and changes only inside 'write'.")
    let rex = Dog(name: "Rex", age: 3)
    rex.favoriteToy = "ball"
    try realm.write {
        realm.add(rex)
        rex.age = 4
    }
    show("\(rex.name), \(rex.age ?? 0), fetches the \(rex.favoriteToy)")

    say("When 'write' returns, the change is on disk. If its block throws, all changes are rolled back:")
    struct ChangedMind: Error {}
    do {
        try realm.write {
            rex.name = "Max"
            throw ChangedMind()
        }
    } catch is ChangedMind {
        show("still \(rex.name)")
    }

    say("'write' returns the result of its block.")
    let count = try realm.write {
        realm.add([Dog(name: "Bello", age: 9), Dog(name: "Laika", age: 1, size: .small, isPuppy: true)])
        return realm.objects(Dog.self).count
    }
    show("\(count) dogs")
}
