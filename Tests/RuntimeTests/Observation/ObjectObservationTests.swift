import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("observing objects")
struct ObjectObservationTests {
    private func start() throws -> (test: TestRealm, dog: Dog, log: Log) {
        let test = try TestRealm()
        let dog = Dog(name: "Rex", age: 3)
        try test.realm.write { test.realm.add(dog) }
        let log = Log(object: dog)
        return (test, dog, log)
    }

    private func expect(_ test: TestRealm, _ log: Log, _ lines: [String], _ location: SourceLocation = #_sourceLocation)
    {
        test.realm.refresh()
        #expect(log.take() == lines, sourceLocation: location)
    }

    @Test("a change merges all commits, and lists each property once, in schema order N70", arguments: [true, false])
    func merged(remote: Bool) throws {
        let (test, _, log) = try start()
        let body = { (realm: Realm) in
            try realm.write { try realm.dog("Rex").favoriteToy = "ball" }
            try realm.write { try realm.dog("Rex").age = 4 }
            try realm.write {
                let dog = try realm.dog("Rex")
                dog.age = 5
                dog.name = "Max"
            }
        }
        if remote {
            try test.onNewThread(body)
            expect(test, log, ["name: Rex → Max, age: 3 → 5, favoriteToy:  → ball"])
        } else {
            try body(test.realm)
            #expect(log.take() == ["favoriteToy:  → ball", "age: 3 → 4"])
            expect(test, log, ["name: Rex → Max, age: 4 → 5"])
        }
    }

    @Test(
        "a change of a scalar or link contains the new value and the value at the previous call N71",
        arguments: [true, false])
    func values(remote: Bool) throws {
        let (test, _, log) = try start()
        let write = { (body: @escaping (Dog, Realm) -> Void) in
            let body = { (realm: Realm) in
                let dog = try #require(realm.objects(Dog.self).first)
                try realm.write { body(dog, realm) }
            }
            if remote { try test.onNewThread(body) } else { try body(test.realm) }
        }
        try write { dog, _ in dog.owner = Person(firstName: "Ada") }
        expect(test, log, ["owner: nil → Ada"])
        try write { dog, realm in
            dog.owner = Person(firstName: "Bob")
            dog.age = nil
            dog.size = .large
            dog.bornIn = .germany
        }
        expect(test, log, ["age: 3 → nil, size: small → large, owner: Ada → Bob, bornIn: nil → DE"])
        try write { dog, _ in dog.age = 7 }
        expect(test, log, ["age: nil → 7"])
    }

    @Test("values are reported bit for bit N71")
    func kinds() throws {
        let test = try TestRealm()
        let node = Node(id: 1, amount: 0)
        try test.realm.write { test.realm.add(node) }
        var old: [Any?] = []
        var new: [Any?] = []
        let token = node.observe { change in
            guard case .change(let object, let changes) = change else { return }
            #expect(object === node)
            old += changes.map(\.oldValue)
            new += changes.map(\.newValue)
        }
        for value in [-0.0, .nan, .infinity, 1.5] {
            try test.realm.write { node.amount = value }
            test.realm.refresh()
        }
        let shownOld = old.compactMap { ($0 as? Double)?.bitPattern }
        let shownNew = new.compactMap { ($0 as? Double)?.bitPattern }
        #expect(shownOld == [0, -0.0, .nan, .infinity].map { (value: Double) in value.bitPattern })
        #expect(shownNew == [-0.0, .nan, .infinity, 1.5].map { (value: Double) in value.bitPattern })
        withExtendedLifetime(token) {}
    }

    @Test("collections are reported by name, without values N72")
    func collections() throws {
        let (test, dog, log) = try start()
        try test.realm.write {
            dog.siblings.append(Dog(name: "Bo"))
            dog.tags.insert("big")
        }
        expect(test, log, ["siblings: nil → nil, tags: nil → nil"])
        let ada = Person(firstName: "Ada")
        try test.realm.write { test.realm.add(ada) }
        let person = Log(object: ada, keyPaths: ["dogs"])
        try test.realm.write { dog.owner = ada }
        expect(test, person, ["dogs: nil → nil"])
    }

    @Test("changes of linked objects are reported only if a key path names the changed property N74")
    func linked() throws {
        let (test, dog, log) = try start()
        let ada = Person(firstName: "Ada")
        try test.realm.write { dog.owner = ada }
        expect(test, log, ["owner: nil → Ada"])
        let deep = Log(object: dog, keyPaths: ["owner.firstName"])
        try test.realm.write { ada.firstName = "Eve" }
        expect(test, log, [])
        #expect(deep.take() == ["owner: Eve → Eve"])
    }

    @Test("a deletion is reported once, also with key paths, and is the last change N75", arguments: [true, false])
    func deleted(remote: Bool) throws {
        let (test, dog, log) = try start()
        let filtered = Log(object: dog, keyPaths: ["favoriteToy"])
        if remote {
            try test.onNewThread { realm in
                try realm.write {
                    let dog = try realm.dog("Rex")
                    dog.favoriteToy = "ball"
                    realm.delete(dog)
                }
            }
        } else {
            try test.realm.write { test.realm.delete(test.allDogs) }
        }
        expect(test, log, ["deleted"])
        #expect(filtered.take() == ["deleted"])
        try test.dogs("Rex")
        expect(test, log, [])
        test.deliverAll()
        #expect(filtered.take() == [])
    }

    @Test("a deletion by cascade is reported N75")
    func cascade() throws {
        let test = try TestRealm()
        let owner = Owner(id: 1, treasure: Treasure(id: 2, name: "gold"))
        try test.realm.write { test.realm.add(owner) }
        let treasure = try #require(owner.treasure)
        let node = Node(id: 1, part: Part(name: "arm", core: Screw(length: 3)))
        try test.realm.write { test.realm.add(node) }
        let screw = try #require(node.part?.core)
        let logs = [Log(object: treasure), Log(object: owner), Log(object: screw, keyPaths: ["length"])]
        try test.onNewThread { realm in
            try realm.write {
                realm.delete(realm.objects(Owner.self))
                realm.delete(realm.objects(Treasure.self))
                realm.delete(realm.objects(Node.self))
            }
        }
        test.realm.refresh()
        #expect(logs.map { $0.take() } == [["deleted"], ["deleted"], ["deleted"]])
    }

    @Test("deleting the target of a link is reported as a change of the link N77", arguments: [true, false])
    func target(remote: Bool) throws {
        let (test, dog, log) = try start()
        try test.realm.write { dog.owner = Person(firstName: "Ada") }
        expect(test, log, ["owner: nil → Ada"])
        let body = { (realm: Realm) in try realm.write { realm.delete(realm.objects(Person.self)) } }
        if remote { try test.onNewThread(body) } else { try body(test.realm) }
        expect(test, log, ["owner: invalidated → nil"])
    }

    @Test("changes of other objects of the class call no observer N78")
    func others() throws {
        let (test, _, log) = try start()
        let other = try test.dogs("Max")[0]
        try test.realm.write { other.name = "Bo" }
        try test.realm.write { test.realm.delete(other) }
        expect(test, log, [])
    }

    @Test("every observer of every accessor of a row is called N79")
    func observers() throws {
        let (test, dog, log) = try start()
        let again = try #require(test.allDogs.first)
        let logs = [log, Log(object: dog), Log(object: again)]
        try test.onNewThread { realm in try realm.write { try realm.dog("Rex").age = 4 } }
        test.realm.refresh()
        #expect(logs.map { $0.take() } == [["age: 3 → 4"], ["age: 3 → 4"], ["age: 3 → 4"]])
        #expect(dog.age == 4)
    }

    @Test(
        "after 'invalidate', the old value of a link is the old target, which is invalidated if it was deleted N71 N32")
    func oldLinkAfterInvalidation() throws {
        let (test, dog, log) = try start()
        try test.realm.write { dog.owner = Person(firstName: "Ada") }
        expect(test, log, ["owner: nil → Ada"])
        test.realm.invalidate()
        try test.onNewThread { realm in
            try realm.write { try realm.dog("Rex").owner = Person(firstName: "Bea") }
        }
        expect(test, log, ["owner: Ada → Bea"])
        test.realm.invalidate()
        try test.onNewThread { realm in
            try realm.write {
                let dog = try realm.dog("Rex")
                if let owner = dog.owner { realm.delete(owner) }
                dog.owner = Person(firstName: "Cid")
            }
        }
        expect(test, log, ["owner: invalidated → Cid"])
    }
}
