import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Runs `body` on a new thread, and waits for its result.
func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) -> R {
    nonisolated(unsafe) var result: R?
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        result = body()
        done.signal()
    }
    done.wait()
    guard let result else { preconditionFailure("the thread returned no result") }
    return result
}

@Suite("freezing")
struct FreezeTests {
    @Test("a frozen object keeps its values, its links and its collections O13 N126")
    func object() throws {
        let test = try TestRealm()
        let (rex, max) = (Dog(name: "Rex", age: 3), Dog(name: "Max"))
        try test.realm.write {
            rex.owner = Person(firstName: "Ada")
            rex.siblings.append(max)
            rex.tags.insert("loud")
            rex.weights["May"] = 12.5
            test.realm.add(rex)
        }
        let frozen = rex.freeze()
        #expect(frozen.isFrozen && !rex.isFrozen && frozen.realm?.isFrozen == true)
        try test.realm.write {
            rex.name = "Bo"
            rex.owner?.firstName = "Bea"
            rex.siblings.removeAll()
            rex.tags.insert("old")
            rex.weights["May"] = 13
            test.realm.delete(max)
        }
        #expect(frozen.name == "Rex" && frozen.age == 3)
        #expect(frozen.owner?.firstName == "Ada" && frozen.owner?.dogs.count == 1)
        #expect(frozen.siblings.map(\.name) == ["Max"] && frozen.siblings[0].isFrozen)
        #expect(Array(frozen.tags) == ["loud"] && frozen.weights["May"] == 12.5)
        #expect(rex.name == "Bo" && rex.siblings.isEmpty)
    }

    @Test("frozen results, lists, sets, maps, linking objects, sections and projections never change N126")
    func collections() throws {
        let test = try TestRealm()
        let (rex, max) = (Dog(name: "Rex", age: 3), Dog(name: "Max", age: 5))
        let ada = Person(firstName: "Ada")
        try test.realm.write {
            rex.siblings.append(max)
            rex.tags.insert("loud")
            rex.weights["May"] = 12.5
            rex.owner = ada
            test.realm.add(rex)
        }
        let results = test.allDogs.sorted(byKeyPath: "name").freeze()
        let (list, set, map) = (rex.siblings.freeze(), rex.tags.freeze(), rex.weights.freeze())
        let links = ada.dogs.freeze()
        let sections = test.allDogs.sectioned(by: \.name).freeze()
        let section = try #require(test.allDogs.sectioned(by: \.name).section(forKey: "Max")).freeze()
        let projection = PersonProjection(projecting: ada).freeze()
        let projections = test.realm.objects(PersonProjection.self).freeze()
        let realm = test.realm.freeze()
        try test.realm.write { test.realm.deleteAll() }
        #expect(results.map(\.name) == ["Max", "Rex"] && results.isFrozen && results.count == 2)
        #expect(results.where { $0.age > 4 }.map(\.name) == ["Max"])
        #expect(results.max(ofProperty: "age") == 5)
        #expect(list.map(\.name) == ["Max"] && list.isFrozen)
        #expect(Array(set) == ["loud"] && set.isFrozen && set.contains("loud"))
        #expect(map["May"] == 12.5 && map.isFrozen && map.keys == ["May"])
        #expect(links.map(\.name) == ["Rex"] && links.isFrozen)
        #expect(sections.allKeys == ["Max", "Rex"] && sections.isFrozen && sections[0][0].name == "Max")
        #expect(section.map(\.name) == ["Max"] && section.isFrozen)
        #expect(projection.firstName == "Ada" && projection.isFrozen)
        #expect(projections.map(\.firstName) == ["Ada"] && projections.isFrozen)
        #expect(realm.isFrozen && realm.objects(Dog.self).count == 2 && !realm.isEmpty)
        #expect(realm.object(ofType: Dog.self, forPrimaryKey: rex.isInvalidated ? results[1].id : .zero)?.name == "Rex")
        #expect(test.allDogs.isEmpty)
    }

    @Test("frozen objects and collections can be read on any thread, also concurrently N126")
    func threads() throws {
        let test = try TestRealm()
        try test.realm.write {
            for index in 0..<300 {
                let dog = Dog(name: "dog \(index)", age: index)
                dog.siblings.append(objectsIn: (0..<3).map { Dog(name: "sibling \($0)", age: -1) })
                dog.tags.insert("tag \(index)")
                test.realm.add(dog)
            }
        }
        let dogs = Frozen(test.allDogs.where { $0.age >= 0 }.sorted(byKeyPath: "age"))
        let failures = LockedValue(0)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for (index, dog) in dogs.enumerated() {
                let isRight =
                    dog.name == "dog \(index)" && dog.siblings.count == 3 && dog.siblings[2].name == "sibling 2"
                    && dog.tags.contains("tag \(index)") && dogs[index] == dog
                if !isRight { failures.update { $0 += 1 } }
            }
        }
        #expect(failures.value == 0)
        try test.realm.write { test.realm.deleteAll() }
        #expect(onThread { dogs.count } == 300)
    }

    @Test("frozen objects of one row and version are equal, and freezing a frozen object returns that object N126")
    func equality() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex", "Max")[0]
        let frozen = rex.freeze()
        #expect(frozen.freeze() === frozen)
        #expect(rex.freeze() == frozen && rex.freeze().hashValue == frozen.hashValue)
        #expect(frozen != test.allDogs[1].freeze() && frozen != rex)
        #expect(test.allDogs.freeze()[0] == frozen && test.allDogs.freeze().index(of: frozen) == 0)
        #expect(Set([frozen, test.realm.freeze().objects(Dog.self)[0]]).count == 1)
        let other = try onOtherThread(test) { Frozen($0.objects(Dog.self)[0]) }
        #expect(other.value == frozen)
        try test.realm.write { rex.name = "Bo" }
        #expect(rex.freeze() != frozen)
    }

    @Test("inside a write, freeze returns the state before the write N125")
    func insideWrite() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        try test.realm.write {
            rex.name = "Bo"
            rex.siblings.append(Dog(name: "Max"))
            #expect(rex.freeze().name == "Rex" && rex.siblings.freeze().isEmpty)
            #expect(test.allDogs.freeze().map(\.name) == ["Rex"])
            #expect(test.realm.freeze().objects(Dog.self).count == 1)
            test.realm.delete(test.allDogs)
            #expect(test.allDogs.freeze().count == 1)
        }
        #expect(test.allDogs.freeze().isEmpty)
    }

    @Test("thaw returns the live object, or nil if it was deleted; thawing a live object returns that object N127")
    func thaw() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex", "Max")[0]
        let frozen = rex.freeze()
        #expect(frozen.thaw() === rex && rex.thaw() === rex)
        let (list, results) = (rex.siblings.freeze(), test.allDogs.freeze())
        let projection = PersonProjection(projecting: Person(firstName: "Ada"))
        try test.realm.write { test.realm.add(projection.rootObject) }
        #expect(projection.freeze().thaw()?.rootObject === projection.rootObject)
        try test.realm.write { rex.siblings.append(Dog(name: "Bo")) }
        #expect(list.thaw()?.map(\.name) == ["Bo"] && list.isEmpty)
        #expect(results.thaw()?.count == 3 && results.count == 2)
        #expect(test.realm.freeze().thaw() == test.realm)
        try test.realm.write { test.realm.delete(rex) }
        #expect(frozen.thaw() == nil && list.thaw() == nil && frozen.name == "Rex")
    }

    @Test(
        "thaw on another thread advances the Realm of that thread to the frozen version, and returns its object N127"
    )
    func thawElsewhere() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        let (hasRead, mayThaw) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        nonisolated(unsafe) var frozen: Frozen<Dog>?
        nonisolated(unsafe) var names: [String?] = []
        let done = DispatchSemaphore(value: 0)
        var configuration = test.configuration
        configuration.scheduler = nil
        let settings = configuration
        Thread.detachNewThread {
            let realm = try? Realm(configuration: settings)
            names.append(realm?.objects(Dog.self)[0].name)
            hasRead.signal()
            mayThaw.wait()
            let thawed = frozen?.thaw()
            names += [thawed?.name, realm?.objects(Dog.self)[0].name]
            if thawed?.realm != realm { names.append("another Realm") }
            done.signal()
        }
        hasRead.wait()
        try test.realm.write { rex.name = "Bo" }
        frozen = Frozen(rex)
        mayThaw.signal()
        done.wait()
        #expect(names == ["Rex", "Bo", "Bo"])
    }

    @Test("objects that are frozen at the same version share one frozen Realm O13")
    func sharing() throws {
        let test = try TestRealm()
        let dogs = try test.dogs("Rex", "Max")
        let frozen = dogs.map { $0.freeze() }
        #expect(frozen[0].realm == frozen[1].realm && frozen[0].realm == test.realm.freeze())
        #expect(test.realm.pinnedVersions.count == 1)
    }

    @Test("a frozen object of an in-memory Realm stays valid when the live Realm is released O13")
    func memory() throws {
        let frozen: Frozen<Dog>
        do {
            let realm = try Realm(configuration: .init(inMemoryIdentifier: UUID().uuidString))
            try realm.write { realm.add(Dog(name: "Rex")) }
            frozen = Frozen(realm.objects(Dog.self)[0])
        }
        #expect(onThread { frozen.name } == "Rex")
        #expect(frozen.thaw()?.name == "Rex")
    }

    @Test("a frozen Realm does not refresh, and its values can be read by name O13")
    func realm() throws {
        let test = try TestRealm()
        try test.dogs("Rex")
        let frozen = test.realm.freeze()
        try test.dogs("Max")
        #expect(!frozen.refresh() && !frozen.autorefresh && frozen.objects(Dog.self).count == 1)
        #expect(frozen.objects(Dog.self)[0].value(forKey: "name") as? String == "Rex")
        #expect(frozen.dynamicObjects("Dog")[0]["name"] as? String == "Rex")
        #expect(frozen.objects(Dog.self)[0].detached().name == "Rex")
        #expect(frozen.objects(Dog.self)[0].description.contains("Rex"))
    }
}

/// A value that several threads read and change.
// Sendable: every access holds the lock.
final class LockedValue<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    func update(_ body: (inout Value) -> Void) {
        lock.lock()
        defer { lock.unlock() }
        body(&stored)
    }

    var value: Value {
        lock.lock()
        defer { lock.unlock() }
        return stored
    }
}

/// Runs `body` with another Realm of the file on a new thread, and returns its result.
func onOtherThread<R: Sendable>(_ test: TestRealm, _ body: @escaping (Realm) throws -> R) throws -> R {
    nonisolated(unsafe) var result: R?
    try test.onNewThread { result = try body($0) }
    return try #require(result)
}
