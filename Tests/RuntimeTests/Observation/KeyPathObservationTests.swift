import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("key paths")
struct KeyPathObservationTests {
    /// The dog Rex with the siblings A and B. Its owner Ada has an address in Ulm.
    private func start() throws -> (test: TestRealm, rex: Dog, ada: Person) {
        let test = try TestRealm()
        let rex = Dog(name: "Rex", age: 3)
        let ada = Person(firstName: "Ada", address: Address(street: "Main", city: "Ulm"))
        try test.realm.write {
            test.realm.add(rex)
            rex.owner = ada
            rex.siblings.append(objectsIn: [Dog(name: "A"), Dog(name: "B")])
        }
        return (test, rex, ada)
    }

    private func expect(
        _ test: TestRealm, _ logs: [Log], _ lines: [[String]], _ location: SourceLocation = #_sourceLocation
    ) {
        test.realm.refresh()
        #expect(logs.map { $0.take() } == lines, sourceLocation: location)
    }

    @Test("observers are called only for the properties in their key paths N82")
    func named() throws {
        let (test, rex, _) = try start()
        let logs = [
            Log(object: rex, keyPaths: ["name", "age"]),
            Log(test.allDogs.where { $0.name == "Rex" }, keyPaths: ["age"]),
        ]
        expect(test, logs, [[], ["initial"]])
        try test.realm.write { rex.favoriteToy = "ball" }
        expect(test, logs, [[], []])
        try test.realm.write {
            rex.favoriteToy = "stick"
            rex.age = 4
        }
        expect(test, logs, [["age: 3 → 4"], ["[] [] [0]"]])
    }

    @Test(
        "'siblings' reports edits of the list, 'siblings.name' also new names; both name the root property N83 N84 N85"
    )
    func siblings() throws {
        let (test, rex, _) = try start()
        let rexOnly = test.allDogs.where { $0.name == "Rex" }
        let logs = [
            Log(object: rex, keyPaths: ["siblings"]), Log(object: rex, keyPaths: ["siblings.name"]),
            Log(rexOnly, keyPaths: ["siblings"]), Log(rexOnly, keyPaths: ["siblings.name"]),
        ]
        let reported = ["siblings: nil → nil"]
        let row = ["[] [] [0]"]
        expect(test, logs, [[], [], ["initial"], ["initial"]])
        try test.realm.write { rex.siblings[0].name = "AA" }
        expect(test, logs, [[], reported, [], row])
        try test.realm.write { rex.siblings[0].age = 9 }
        expect(test, logs, [[], [], [], []])
        try test.realm.write { rex.siblings.append(Dog(name: "C")) }
        expect(test, logs, [reported, reported, row, row])
        try test.realm.write { rex.siblings[2] = rex }
        expect(test, logs, [reported, reported, row, row])
        try test.onNewThread { realm in try realm.write { realm.delete(try realm.dog("B")) } }
        expect(test, logs, [reported, reported, row, row])
    }

    @Test("'owner' reports reassignment only, 'owner.firstName' also reports the first name N86")
    func link() throws {
        let (test, rex, ada) = try start()
        let logs = [
            Log(object: rex, keyPaths: ["owner"]), Log(object: rex, keyPaths: ["owner.firstName"]),
            Log(test.allDogs.where { $0.name == "Rex" }, keyPaths: ["owner.firstName"]),
        ]
        expect(test, logs, [[], [], ["initial"]])
        try test.realm.write { ada.firstName = "Eve" }
        expect(test, logs, [[], ["owner: Eve → Eve"], ["[] [] [0]"]])
        try test.realm.write { ada.lastName = "L" }
        expect(test, logs, [[], [], []])
        try test.realm.write { rex.owner = Person(firstName: "Bob") }
        expect(test, logs, [["owner: Eve → Bob"], ["owner: Eve → Bob"], ["[] [] [0]"]])
        try test.realm.write { ada.firstName = "Zoe" }
        expect(test, logs, [[], [], []])
    }

    @Test("strings, Swift key paths and descriptors behave identically, through optionals and collections N87")
    func spellings() throws {
        let (test, rex, ada) = try start()
        let log = Log()
        let record = { (name: String) in
            { (change: RealmCollectionChange<Results<Dog>>) in log.lines.append("\(name) \(text(change))") }
        }
        let dogs = test.allDogs.where { $0.name == "Rex" }
        log.tokens = [
            dogs.observe(keyPaths: ["owner.address.city"], record("a")),
            dogs.observe(keyPaths: [\Dog.owner?.address?.city], record("b")),
            dogs.observe(keyPaths: [Dog.fields.owner.address.city], record("c")),
            dogs.observe(keyPaths: ["siblings.name"], record("d")),
            dogs.observe(keyPaths: [Dog.fields.siblings.name], record("e")),
            dogs.observe(keyPaths: [Dog.KeyPaths.siblingNames], record("f")),
            dogs.observe(keyPaths: [\Dog.siblings], record("g")),
            dogs.observe(keyPaths: Dog.KeyPaths.card, record("h")),
        ]
        test.realm.refresh()
        _ = log.take()
        try test.realm.write { ada.address?.city = "Bonn" }
        expect(test, [log], [["a [] [] [0]", "b [] [] [0]", "c [] [] [0]", "h [] [] [0]"]])
        try test.realm.write { ada.address?.street = "Side" }
        expect(test, [log], [[]])
        try test.realm.write { rex.siblings[1].name = "BB" }
        expect(test, [log], [["d [] [] [0]", "e [] [] [0]", "f [] [] [0]"]])
        try test.realm.write { rex.siblings.removeLast() }
        expect(test, [log], [["d [] [] [0]", "e [] [] [0]", "f [] [] [0]", "g [] [] [0]"]])
        let object = Log()
        object.tokens = [
            rex.observe(keyPaths: [\Dog.favoriteToy, \Dog.age]) { object.lines.append("x \(text($0))") },
            rex.observe(keyPaths: [\.owner?.firstName]) { object.lines.append("y \(text($0))") },
            rex.observe(keyPaths: [Dog.fields.age]) { object.lines.append("z \(text($0))") },
        ]
        try test.realm.write { rex.age = 5 }
        expect(test, [object], [["x age: 3 → 5", "z age: 3 → 5"]])
        try test.realm.write { ada.firstName = "Eve" }
        expect(test, [object], [["y owner: Eve → Eve"]])
    }

    @Test("inserted and removed elements are reported regardless of the key paths N88")
    func membership() throws {
        let (test, rex, _) = try start()
        let log = Log(test.allDogs.where { $0.age > 1 }, keyPaths: ["favoriteToy"])
        expect(test, [log], [["initial"]])
        try test.realm.write { rex.age = 9 }
        expect(test, [log], [[]])
        try test.realm.write { rex.age = 0 }
        expect(test, [log], [["[0] [] []"]])
        try test.realm.write { rex.age = 7 }
        expect(test, [log], [["[] [0] []"]])
    }

    @Test("key paths lead to linking objects and to their properties N90 N91", arguments: [true, false])
    func linkingObjects(remote: Bool) throws {
        let (test, _, _) = try start()
        let persons = test.realm.objects(Person.self)
        try test.realm.write { test.realm.add(Person(firstName: "Bob")) }
        let logs = [
            Log(persons, keyPaths: ["dogs"]), Log(persons, keyPaths: ["dogs.name"]),
            Log(object: persons[0], keyPaths: ["dogs"]), Log(object: persons[1], keyPaths: ["dogs.name"]),
        ]
        expect(test, logs, [["initial"], ["initial"], [], []])
        let write = { (body: @escaping (Realm) throws -> Void) in
            let body = { (realm: Realm) in try realm.write { try body(realm) } }
            if remote { try test.onNewThread(body) } else { try body(test.realm) }
        }
        let reported = ["dogs: nil → nil"]
        try write { try $0.dog("Rex").age = 4 }
        expect(test, logs, [[], [], [], []])
        try write { try $0.dog("Rex").name = "Max" }
        expect(test, logs, [[], ["[] [] [0]"], [], []])
        try write { try $0.dog("Max").owner = $0.objects(Person.self)[1] }
        expect(test, logs, [["[] [] [0, 1]"], ["[] [] [0, 1]"], reported, reported])
        try write { realm in
            let dog = Dog(name: "New")
            dog.owner = realm.objects(Person.self)[1]
            realm.add(dog)
        }
        expect(test, logs, [["[] [] [1]"], ["[] [] [1]"], [], reported])
        try write { $0.delete(try $0.dog("Max")) }
        expect(test, logs, [["[] [] [1]"], ["[] [] [1]"], [], reported])
    }

    @Test("deep paths have no limit, report changes at every level, and end at a nil link N93 N94")
    func deep() throws {
        let test = try TestRealm()
        let nodes = (0..<8).map { Node(id: $0, name: "\($0)") }
        try test.realm.write {
            test.realm.add(nodes)
            for index in 0..<7 { nodes[index].next = nodes[index + 1] }
        }
        let path = "next.next.next.next.next.next.next.name"
        let logs = [Log(object: nodes[0], keyPaths: [path]), Log(test.realm.objects(Node.self), keyPaths: [path])]
        expect(test, logs, [[], ["initial"]])
        try test.realm.write { nodes[7].name = "seven" }
        expect(test, logs, [["next: object → object"], ["[] [] [0]"]])
        try test.realm.write { nodes[6].name = "six" }
        expect(test, logs, [[], []])
        try test.realm.write { nodes[4].next = nil }
        expect(test, logs, [["next: object → object"], ["[] [] [0, 1, 2, 3, 4]"]])
        try test.realm.write { nodes[7].name = "7" }
        expect(test, logs, [[], []])
        try test.realm.write { nodes[4].next = nodes[7] }
        expect(test, logs, [["next: object → object"], ["[] [] [0, 1, 2, 3, 4]"]])
    }

    @Test("each observer is called only for its own key paths N96")
    func exclusive() throws {
        let (test, rex, _) = try start()
        let dogs = test.allDogs.where { $0.name == "Rex" }
        let logs = [
            Log(object: rex, keyPaths: ["age"]), Log(object: rex, keyPaths: ["favoriteToy"]), Log(object: rex),
            Log(dogs, keyPaths: ["age"]), Log(dogs, keyPaths: ["favoriteToy"]), Log(dogs, keyPaths: []),
        ]
        expect(test, logs, [[], [], [], ["initial"], ["initial"], ["initial"]])
        try test.realm.write { rex.age = 4 }
        expect(test, logs, [["age: 3 → 4"], [], ["age: 3 → 4"], ["[] [] [0]"], [], []])
    }

    @Test("a star stands for every property of one level N98")
    func star() throws {
        let (test, rex, ada) = try start()
        let logs = [
            Log(object: rex, keyPaths: ["*"]), Log(object: rex, keyPaths: ["owner.*"]),
            Log(test.allDogs.where { $0.name == "Rex" }, keyPaths: ["owner.*"]),
        ]
        expect(test, logs, [[], [], ["initial"]])
        try test.realm.write { rex.age = 4 }
        expect(test, logs, [["age: 3 → 4"], [], []])
        try test.realm.write { ada.lastName = "L" }
        expect(test, logs, [[], ["owner: Ada → Ada"], ["[] [] [0]"]])
        try test.realm.write { ada.address?.city = "Bonn" }
        expect(test, logs, [[], [], []])
    }

    @Test(
        "without key paths, collections report changes up to three links away, but none of linking objects N99"
    )
    func levels() throws {
        let test = try TestRealm()
        let nodes = (0..<6).map { Node(id: $0) }
        try test.realm.write {
            test.realm.add(nodes)
            for index in 0..<6 { nodes[index].next = nodes[(index + 1) % 6] }
        }
        let logs = [
            Log(test.realm.objects(Node.self).where { $0.id == 0 }), Log(test.realm.objects(Node.self)),
            Log(object: nodes[0]),
        ]
        expect(test, logs, [["initial"], ["initial"], []])
        try test.realm.write { nodes[3].name = "x" }
        expect(test, logs, [["[] [] [0]"], ["[] [] [0, 1, 2, 3]"], []])
        try test.realm.write { nodes[4].name = "x" }
        expect(test, logs, [[], ["[] [] [1, 2, 3, 4]"], []])
        let treasure = Treasure(id: 1)
        try test.realm.write {
            test.realm.add(treasure)
            test.realm.add(Owner(id: 1, treasure: treasure))
        }
        let treasures = Log(test.realm.objects(Treasure.self))
        expect(test, [treasures], [["initial"]])
        try test.realm.write { test.realm.object(ofType: Owner.self, forPrimaryKey: 1)?.treasure = nil }
        expect(test, [treasures], [[]])
    }

    @Test("a star that precedes other components leads through all links and collections of objects N98")
    func innerStars() throws {
        let (test, rex, ada) = try start()
        let rexOnly = test.allDogs.where { $0.name == "Rex" }
        let logs = [
            Log(object: rex, keyPaths: ["*.*"]), Log(rexOnly, keyPaths: ["*.*"]),
            Log(rexOnly, keyPaths: ["*.firstName"]),
            Log(rexOnly, keyPaths: ["*.*.city"]),
        ]
        expect(test, logs, [[], ["initial"], ["initial"], ["initial"]])
        try test.realm.write { rex.age = 4 }
        expect(test, logs, [["age: 3 → 4"], ["[] [] [0]"], [], []])
        try test.realm.write { ada.lastName = "L" }
        expect(test, logs, [["owner: Ada → Ada"], ["[] [] [0]"], [], []])
        try test.realm.write { ada.address?.city = "Bonn" }
        expect(test, logs, [[], [], [], ["[] [] [0]"]])
        try test.realm.write { rex.siblings[0].name = "x" }
        expect(test, logs, [["siblings: nil → nil"], ["[] [] [0]"], [], []])
    }

    @Test("collections report changes behind links in AnyRealmValue, up to three links from the element N99 N69")
    func anyLinks() throws {
        let test = try TestRealm()
        let nodes = (0..<5).map { Node(id: $0) }
        let (holder, lists, sets, maps) = (Scalars(id: 1), ScalarLists(), ScalarSets(), ScalarMaps())
        try test.realm.write {
            test.realm.add(nodes)
            for index in 0..<4 { nodes[index].next = nodes[index + 1] }
            test.realm.add(holder)
            test.realm.add(lists)
            test.realm.add(sets)
            test.realm.add(maps)
            holder.anyValue = .list([.map(["x": .object(nodes[0])])])
            lists.anyValues.append(objectsIn: [.int(1), .object(nodes[0])])
            sets.anyValues.insert(.object(nodes[0]))
            maps.anyValues["a"] = .object(nodes[0])
        }
        let logs = [
            Log(test.realm.objects(Scalars.self)), Log(lists.anyValues), Log(sets.anyValues), Log(),
            Log(object: holder),
        ]
        // Observers of the owners of the collections.
        let owners = [
            Log(test.realm.objects(ScalarLists.self)), Log(test.realm.objects(ScalarSets.self)),
            Log(test.realm.objects(ScalarMaps.self)),
        ]
        logs[3].tokens = [
            maps.anyValues.observe { change in
                if case .update(_, _, _, let modified) = change { logs[3].lines.append("\(modified)") }
            }
        ]
        test.realm.refresh()
        _ = (logs + owners).map { $0.take() }
        let modified = [["[] [] [0]"], ["[] [] [1]"], ["[] [] [0]"], [#"["a"]"#], []]
        let one = Array(repeating: ["[] [] [0]"], count: 3)
        for node in [nodes[0], nodes[2]] {
            try test.realm.write { node.name = "x" }
            expect(test, logs + owners, modified + one)
        }
        try test.realm.write { nodes[3].name = "x" }
        expect(test, logs + owners, [[], ["[] [] [1]"], ["[] [] [0]"], [#"["a"]"#], [], [], [], []])
        try test.realm.write { nodes[4].name = "x" }
        expect(test, logs + owners, [[], [], [], [], [], [], [], []])
    }

    @Test("a computed property that loops over linking objects is observed with the properties that it reads N84")
    func computedProperty() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(3)
        try test.realm.write { nodes[0].children.append(nodes[1]) }
        let log = Log()
        let keyPaths: [PartialKeyPath<Node>] = [\.namesOfParents]
        log.tokens = [test.realm.objects(Node.self).observe(keyPaths: keyPaths) { log.lines.append(text($0)) }]
        test.realm.refresh()
        _ = log.take()
        try test.realm.write { nodes[0].name = "new" }
        expect(test, [log], [["[] [] [1]"]])
        try test.realm.write { nodes[2].name = "new" }
        expect(test, [log], [[]])
    }

    @Test("key paths lead through AnyRealmValue to the types that have the named property N84 N99")
    func throughAny() throws {
        let test = try TestRealm()
        let nodes = (0..<3).map { Node(id: $0) }
        let (holder, lists) = (Scalars(id: 1), ScalarLists())
        try test.realm.write {
            test.realm.add(nodes)
            nodes[0].next = nodes[1]
            test.realm.add(holder)
            test.realm.add(lists)
            holder.anyValue = .list([.object(nodes[0])])
            lists.anyValues.append(.object(nodes[0]))
        }
        let all = test.realm.objects(Scalars.self)
        let logs = [
            Log(all, keyPaths: ["anyValue.name"]), Log(all, keyPaths: ["anyValue.next.name"]),
            Log(lists.anyValues, keyPaths: ["name"]),
            Log(test.realm.objects(ScalarLists.self), keyPaths: ["anyValues.name"]),
            Log(object: lists, keyPaths: ["anyValues.*"]),
        ]
        test.realm.refresh()
        _ = logs.map { $0.take() }
        let row = ["[] [] [0]"]
        try test.realm.write { nodes[0].name = "x" }
        expect(test, logs, [row, [], row, row, ["anyValues: nil → nil"]])
        try test.realm.write { nodes[1].name = "x" }
        expect(test, logs, [[], row, [], [], []])
        try test.realm.write { nodes[0].amount = 2 }
        expect(test, logs, [[], [], [], [], ["anyValues: nil → nil"]])
        try test.realm.write { nodes[0].next = nil }
        expect(test, logs, [[], row, [], [], ["anyValues: nil → nil"]])
        try test.realm.write { lists.anyValues.append(.object(nodes[2])) }
        expect(test, logs, [[], [], ["[] [1] []"], row, ["anyValues: nil → nil"]])
        try test.realm.write { nodes[2].name = "y" }
        expect(test, logs, [[], [], ["[] [] [1]"], row, ["anyValues: nil → nil"]])
    }

    @Test("a change to a collection property marks its owner as modified N100")
    func owner() throws {
        let (test, rex, ada) = try start()
        try test.realm.write { ada.friends.append(Person(firstName: "Bob")) }
        let logs = [
            Log(test.allDogs.where { $0.name == "Rex" }), Log(ada.friends), Log(test.realm.objects(Person.self)),
        ]
        expect(test, logs, [["initial"], ["initial"], ["initial"]])
        try test.realm.write { rex.tags.insert("x") }
        expect(test, logs, [["[] [] [0]"], [], []])
        try test.realm.write { ada.friends[0].friends.append(ada) }
        expect(test, logs, [["[] [] [0]"], ["[] [] [0]"], ["[] [] [0, 1]"]])
    }
}

extension Node {
    fileprivate var namesOfParents: String {
        var names = ""
        for parent in parents { names += parent.name }
        return names
    }
}
