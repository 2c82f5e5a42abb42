import Martlet

/// Everything is changed inside of 'write': all of it happens, or nothing.
func writing(_ realm: Realm) throws {
    chapter(2, "Writing")
    say("An object begins as a plain Swift object. Added to a Realm it is stored, and changed inside 'write' only.")
    let rex = Dog(name: "Rex", age: 3)
    rex.favoriteToy = "ball"
    try realm.write {
        realm.add(rex)
        rex.age = 4
    }
    show("\(rex.name), \(rex.age ?? 0), fetches the \(rex.favoriteToy)")

    say("When 'write' returns, the change is on disk. When its block throws, nothing has happened, and objects say so:")
    struct ChangedMind: Error {}
    do {
        try realm.write {
            rex.name = "Max"
            throw ChangedMind()
        }
    } catch is ChangedMind {
        show("still \(rex.name)")
    }

    say("'write' hands on what its block returns.")
    let count = try realm.write {
        realm.add([Dog(name: "Bello", age: 9), Dog(name: "Laika", age: 1, size: .small, isPuppy: true)])
        return realm.objects(Dog.self).count
    }
    show("\(count) dogs")
}
