import ConformanceModels
import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("what counts as a change")
struct ChangeTests {
    /// A Realm with dogs, and observers of all dogs, of the dogs older than five, and of all dogs sorted by name.
    private func start(_ names: [String] = ["A", "B", "C", "D"]) throws -> (test: TestRealm, dogs: [Dog], logs: [Log]) {
        let test = try TestRealm()
        let dogs = names.enumerated().map { Dog(name: $0.element, age: $0.offset * 2) }
        try test.realm.write { test.realm.add(dogs) }
        let logs = [
            Log(test.allDogs), Log(test.allDogs.where { $0.age > 5 }), Log(test.allDogs.sorted(byKeyPath: "name")),
        ]
        test.realm.refresh()
        for log in logs { #expect(log.take() == ["initial"]) }
        return (test, dogs, logs)
    }

    /// Refreshes the Realm, and compares the calls of each observer with `lines`. A line contains the positions of the
    /// deletions, insertions and modifications of a collection, or the changes of an object.
    private func expect(
        _ test: TestRealm, _ logs: [Log], _ lines: [[String]], _ location: SourceLocation = #_sourceLocation
    ) {
        test.realm.refresh()
        #expect(logs.map { $0.take() } == lines, sourceLocation: location)
    }

    @Test("all commits between two deliveries merge into one change set N40")
    func merged() throws {
        let (test, _, logs) = try start()
        for number in 0..<3 {
            try test.onNewThread { realm in
                try realm.write {
                    realm.add(Dog(name: "X\(number)", age: number * 4))
                    try realm.dog("A").favoriteToy = "\(number)"
                }
            }
        }
        expect(test, logs, [["[] [4, 5, 6] [0]"], ["[] [1] []"], ["[] [4, 5, 6] [0]"]])
    }

    @Test("inserting and then deleting an object calls no observer N41", arguments: [true, false])
    func insertDelete(alsoLocally: Bool) throws {
        let (test, _, logs) = try start()
        try test.onNewThread { realm in
            try realm.write { realm.add(Dog(name: "X", age: 9)) }
            try realm.write { realm.delete(try realm.dog("X")) }
            try realm.write {
                let dog = Dog(name: "Y", age: 9)
                realm.add(dog)
                dog.age = 10
                realm.delete(dog)
            }
        }
        expect(test, logs, [[], [], []])
        if alsoLocally {
            try test.realm.write {
                let dog = Dog(name: "Z", age: 9)
                test.realm.add(dog)
                test.realm.delete(dog)
            }
            expect(test, logs, [[], [], []])
        }
    }

    @Test("an object that is inserted and modified before the delivery is reported only as inserted N42")
    func insertModify() throws {
        let (test, _, logs) = try start()
        try test.onNewThread { realm in
            try realm.write { realm.add(Dog(name: "X", age: 9)) }
            try realm.write { try realm.dog("X").age = 10 }
        }
        expect(test, logs, [["[] [4] []"], ["[] [1] []"], ["[] [4] []"]])
    }

    @Test("assigning a property its current value is a change; assigning a collection to itself is not N43")
    func sameValue() throws {
        let (test, dogs, logs) = try start()
        let object = Log(object: dogs[3])
        try test.realm.write { dogs[3].name = "D" }
        expect(test, logs + [object], [["[] [] [3]"], ["[] [] [0]"], ["[] [] [3]"], ["name: D → D"]])
        try test.realm.write { dogs[3].siblings = dogs[3].siblings }
        expect(test, logs + [object], [[], [], [], []])
    }

    @Test("an update with .modified and equal values calls no observer; .all reports every given property N44")
    func update() throws {
        let test = try TestRealm()
        let node = Node(id: 1, name: "one", amount: 2)
        try test.realm.write {
            test.realm.add(node)
            node.children.append(node)
        }
        let logs = [Log(test.realm.objects(Node.self)), Log(object: node)]
        expect(test, logs, [["initial"], []])
        try test.realm.write { test.realm.create(Node.self, value: ["id": 1, "name": "one"], update: .modified) }
        expect(test, logs, [[], []])
        try test.realm.write {
            test.realm.create(Node.self, value: ["id": 1, "name": "one", "amount": 3.0], update: .modified)
        }
        expect(test, logs, [["[] [] [0]"], ["amount: 2.0 → 3.0"]])
        try test.realm.write { test.realm.create(Node.self, value: ["id": 1, "name": "one"], update: .all) }
        expect(test, logs, [["[] [] [0]"], ["name: one → one"]])
    }

    @Test("changes of other classes, and of objects that match neither before nor after, call no observer N45")
    func unrelated() throws {
        let (test, dogs, logs) = try start()
        try test.realm.write { test.realm.add(Todo(id: 1)) }
        expect(test, logs, [[], [], []])
        try test.realm.write { dogs[0].favoriteToy = "ball" }
        expect(test, logs, [["[] [] [0]"], [], ["[] [] [0]"]])
        try test.realm.write { test.realm.delete(dogs[0]) }
        expect(test, logs, [["[0] [] []"], [], ["[0] [] []"]])
    }

    @Test(
        "a changed object is reported as modified if it matches before and after, else as deleted or inserted N46"
    )
    func matching() throws {
        let (test, dogs, logs) = try start()
        try test.realm.write { dogs[3].age = 7 }
        expect(test, logs, [["[] [] [3]"], ["[] [] [0]"], ["[] [] [3]"]])
        try test.realm.write { dogs[3].age = 1 }
        expect(test, logs, [["[] [] [3]"], ["[0] [] []"], ["[] [] [3]"]])
        try test.realm.write { dogs[1].age = 8 }
        expect(test, logs, [["[] [] [1]"], ["[] [0] []"], ["[] [] [1]"]])
    }

    @Test(
        "deletions and modifications are old positions, insertions are new positions; change sets also have moves N47")
    func order() throws {
        let (test, dogs, logs) = try start()
        var changeSet: CollectionChangeSet?
        let token = test.allDogs.sorted(byKeyPath: "name").observeChanges { change in
            if case .update(_, let changes) = change { changeSet = changes }
        }
        test.realm.refresh()
        try test.realm.write {
            test.realm.delete(dogs[0])
            dogs[1].name = "Z"
            dogs[3].favoriteToy = "ball"
            test.realm.add([Dog(name: "AA"), Dog(name: "CC")])
        }
        expect(test, logs, [["[0] [3, 4] [1, 3]"], ["[] [] [0]"], ["[0, 1] [0, 2, 4] [3]"]])
        let changes = try #require(changeSet)
        #expect(changes.deletions == [0, 1])
        #expect(changes.insertions == [0, 2, 4])
        #expect(changes.modifications == [3])
        #expect(changes.modificationsInNew == [3])
        #expect(changes.moves == [.init(from: 1, to: 4)])
        withExtendedLifetime(token) {}
    }

    @Test("in a sorted collection a modification that changes the position is a deletion plus an insertion N48")
    func moved() throws {
        let (test, dogs, logs) = try start()
        try test.realm.write { dogs[0].name = "BB" }
        expect(test, logs, [["[] [] [0]"], [], ["[0] [1] []"]])
        try test.realm.write { dogs[0].name = "BC" }
        expect(test, logs, [["[] [] [0]"], [], ["[] [] [1]"]])
    }

    @Test("deleting rows reports none of the remaining rows as moved or modified N49")
    func survivors() throws {
        let (test, dogs, logs) = try start()
        try test.realm.write { test.realm.delete([dogs[0], dogs[2]]) }
        expect(test, logs, [["[0, 2] [] []"], [], ["[0, 2] [] []"]])
        try test.realm.write { test.realm.delete(dogs[1]) }
        expect(test, logs, [["[0] [] []"], [], ["[0] [] []"]])
    }

    @Test("deleting all objects reports exactly the old positions, even if the write adds and deletes others N50")
    func clear() throws {
        let (test, _, logs) = try start()
        try test.realm.write {
            test.realm.delete(test.allDogs)
            test.realm.add([Dog(name: "X", age: 9), Dog(name: "Y", age: 9)])
            test.realm.delete(test.allDogs)
        }
        expect(test, logs, [["[0, 1, 2, 3] [] []"], ["[0] [] []"], ["[0, 1, 2, 3] [] []"]])
        try test.dogs("New")
        expect(test, logs, [["[] [0] []"], [], ["[] [0] []"]])
        try test.realm.write { test.realm.deleteAll() }
        expect(test, logs, [["[0] [] []"], [], ["[0] [] []"]])
    }

    @Test(
        "replacing an object by one with the same primary key in one commit is a deletion and an insertion N52",
        arguments: [true, false])
    func replaced(remote: Bool) throws {
        let test = try TestRealm()
        try test.realm.write {
            test.realm.add([Node(id: 1, name: "a"), Node(id: 2, name: "b"), Node(id: 3, name: "c")])
        }
        let nodes = test.realm.objects(Node.self)
        let old = try #require(test.realm.object(ofType: Node.self, forPrimaryKey: 2))
        let logs = [
            Log(nodes), Log(nodes.sorted(byKeyPath: "name")), Log(nodes.where { $0.name == "b" }), Log(object: old),
        ]
        expect(test, logs, [["initial"], ["initial"], ["initial"], []])
        let body = { (realm: Realm) in
            try realm.write {
                realm.delete(try #require(realm.object(ofType: Node.self, forPrimaryKey: 2)))
                realm.add(Node(id: 2, name: "b"))
            }
        }
        if remote { try test.onNewThread(body) } else { try body(test.realm) }
        expect(test, logs, [["[1] [1] []"], ["[1] [1] []"], ["[0] [0] []"], ["deleted"]])
        try test.realm.write { test.realm.object(ofType: Node.self, forPrimaryKey: 2)?.name = "bb" }
        expect(test, logs, [["[] [] [1]"], ["[] [] [1]"], ["[0] [] []"], []])
    }

    @Test("results report changes of every class that their filter, sort order or key paths use N53")
    func acrossLinks() throws {
        let (test, dogs, logs) = try start()
        let ada = Person(firstName: "Ada", address: Address(street: "", city: "Ulm"))
        let bob = Person(firstName: "Bob", address: Address(street: "", city: "Bonn"))
        try test.realm.write {
            test.realm.add([ada, bob])
            dogs[0].owner = ada
            dogs[1].owner = bob
            dogs[2].owner = ada
        }
        let city = Log(test.allDogs.where { $0.owner.address.city == "Ulm" }, keyPaths: ["name"])
        let sorted = Log(test.allDogs.sorted(byKeyPath: "owner.firstName"), keyPaths: ["name"])
        let path = Log(test.allDogs, keyPaths: ["owner.address.city"])
        let all = [city, sorted, path]
        expect(test, logs + all, [["[] [] [0, 1, 2]"], [], ["[] [] [0, 1, 2]"], ["initial"], ["initial"], ["initial"]])
        try test.realm.write { bob.address?.city = "Ulm" }
        expect(test, all, [["[] [1] []"], [], ["[] [] [1]"]])
        try test.realm.write { ada.firstName = "Zoe" }
        expect(test, all, [[], ["[0, 1] [1, 2] []"], []])
        try test.onNewThread { realm in
            try realm.write { realm.objects(Person.self).where { $0.firstName == "Zoe" }.first?.address = nil }
        }
        expect(test, all, [["[0, 2] [] []"], [], ["[] [] [0, 2]"]])
        try test.realm.write { ada.lastName = "X" }
        expect(test, all, [[], [], []])
        try test.realm.write { test.realm.delete(bob) }
        expect(test, all, [["[0] [] []"], ["[0] [2] []"], ["[] [] [1]"]])
    }

    @Test("results report changes of the collections and linking objects that their filter uses N53")
    func acrossCollections() throws {
        let test = try TestRealm()
        let dogs = try test.dogs("A", "B", "C")
        let ada = Person(firstName: "Ada")
        try test.realm.write {
            test.realm.add(ada)
            dogs[0].siblings.append(objectsIn: [dogs[1], dogs[2]])
            dogs[1].siblings.append(dogs[2])
        }
        let logs = [
            Log(test.allDogs.where { $0.siblings.name == "B" }, keyPaths: ["age"]),
            Log(test.realm.objects(Person.self).where { $0.dogs.name == "A" }, keyPaths: ["lastName"]),
        ]
        expect(test, logs, [["initial"], ["initial"]])
        try test.realm.write { dogs[0].owner = ada }
        expect(test, logs, [[], ["[] [0] []"]])
        try test.realm.write { dogs[2].name = "B" }
        expect(test, logs, [["[] [1] []"], []])
        try test.realm.write { dogs[1].siblings.removeAll() }
        expect(test, logs, [["[1] [] []"], []])
        try test.onNewThread { realm in try realm.write { try realm.dog("A").owner = nil } }
        expect(test, logs, [[], ["[0] [] []"]])
        try test.realm.write { dogs[0].owner = ada }
        expect(test, logs, [[], ["[] [0] []"]])
        try test.realm.write { test.realm.delete(dogs[0]) }
        expect(test, logs, [["[0] [] []"], ["[0] [] []"]])
    }

    @Test("if the change sets since the last call are no longer stored, observers get a full comparison N151")
    func beyondRetention() throws {
        let test = try TestRealm { $0.environment.changeRetention = 3 }
        let dogs = try test.dogs("A", "B", "C")
        try test.realm.write { dogs[0].siblings.append(objectsIn: [dogs[1], dogs[2]]) }
        let logs = [
            Log(test.allDogs), Log(test.allDogs.sorted(byKeyPath: "name")), Log(dogs[0].siblings), Log(object: dogs[1]),
            Log(object: dogs[2]),
        ]
        expect(test, logs, [["initial"], ["initial"], ["initial"], [], []])
        try test.onNewThread { realm in
            for number in 0..<400 {
                try realm.write { try realm.dog(number == 0 ? "B" : "X\(number - 1)").name = "X\(number)" }
            }
            try realm.write { realm.delete(try realm.dog("C")) }
        }
        test.realm.refresh()
        #expect(logs[0].take() == ["[2] [] [0, 1]"])
        #expect(logs[1].take() == ["[2] [] [0, 1]"])
        #expect(logs[2].take() == ["[1] [] [0]"])
        #expect(logs[3].take().first?.hasPrefix("name: B → X399") == true)
        #expect(logs[4].take() == ["deleted"])
    }
}
