import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("references between threads")
struct ReferenceTests {
    @Test("a reference resolves to the live object in another Realm of the file, or nil if it was deleted N128")
    func resolve() throws {
        let test = try TestRealm()
        let (rex, ada) = (Dog(name: "Rex"), Person(firstName: "Ada"))
        try test.realm.write {
            rex.siblings.append(Dog(name: "Max"))
            rex.tags.insert("loud")
            rex.weights["May"] = 12.5
            rex.owner = ada
            test.realm.add(rex)
        }
        let object = ThreadSafeReference(to: rex)
        let results = ThreadSafeReference(to: test.allDogs.sorted(byKeyPath: "name"))
        let (list, set) = (ThreadSafeReference(to: rex.siblings), ThreadSafeReference(to: rex.tags))
        let (map, links) = (ThreadSafeReference(to: rex.weights), ThreadSafeReference(to: ada.dogs))
        let projection = ThreadSafeReference(to: PersonProjection(projecting: ada))
        let sections = ThreadSafeReference(to: test.allDogs.sectioned(by: \.name))
        let realm = ThreadSafeReference(to: test.realm)
        let found = try onOtherThread(test) { other -> [String] in
            [
                other.resolve(object)?.name ?? "", other.resolve(results)?.map(\.name).joined(separator: " ") ?? "",
                other.resolve(list)?.first?.name ?? "", other.resolve(set)?.first ?? "",
                other.resolve(map)?.keys.first ?? "", other.resolve(links)?.first?.name ?? "",
                other.resolve(projection)?.firstName ?? "",
                other.resolve(sections)?.allKeys.joined(separator: " ") ?? "", "\(other.resolve(realm) == other)",
            ]
        }
        #expect(found == ["Rex", "Max Rex", "Max", "loud", "May", "Rex", "Ada", "Max Rex", "true"])
        let (gone, goneList) = (ThreadSafeReference(to: rex), ThreadSafeReference(to: rex.siblings))
        try test.realm.write { test.realm.delete(rex) }
        #expect(try onOtherThread(test) { $0.resolve(gone) == nil && $0.resolve(goneList) == nil })
        #expect(object.isResolved)
    }

    @Test(
        "in a callback, a reference to a newer object does not resolve to an earlier object with its key N127 N128 N129"
    )
    func newerThanCallback() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add([Task(id: 7, name: "first"), Task(id: 8)]) }
        var found: [String?] = []
        let token = test.realm.objects(Task.self).observe { change in
            guard case .update = change, found.isEmpty else { return }
            nonisolated(unsafe) var values: (ThreadSafeReference<Task>, ThreadSafe<Task>, Frozen<Task>)?
            try? test.onNewThread { realm in
                try realm.write { realm.delete(realm.objects(Task.self).where { $0.id == 7 }) }
                try realm.write { realm.add(Task(id: 7, name: "second")) }
                guard let task = realm.object(ofType: Task.self, forPrimaryKey: 7) else { return }
                values = (ThreadSafeReference(to: task), ThreadSafe(wrappedValue: task), Frozen(task))
            }
            guard let (reference, shared, frozen) = values else { return }
            found = [
                test.realm.object(ofType: Task.self, forPrimaryKey: 7)?.name, test.realm.resolve(reference)?.name,
                shared.wrappedValue?.name, frozen.value.thaw()?.name,
            ]
        }
        test.deliverAll()
        try test.realm.write { test.realm.object(ofType: Task.self, forPrimaryKey: 8)?.name = "changed" }
        test.deliverAll()
        #expect(found == ["first", nil, nil, nil])
        test.realm.refresh()
        #expect(test.realm.object(ofType: Task.self, forPrimaryKey: 7)?.name == "second")
        withExtendedLifetime(token) {}
    }

    @Test("a reference to a deleted object does not resolve to a later object with the same primary key N128")
    func replaced() throws {
        let test = try TestRealm()
        let todo = Todo(id: 7, name: "a")
        let task = Task(id: 7, todos: [todo])
        try test.realm.write { test.realm.add(task) }
        let (object, list) = (ThreadSafeReference(to: task), ThreadSafeReference(to: task.todos))
        let kept = ThreadSafeReference(to: todo)
        try test.realm.write { test.realm.delete(task) }
        try test.realm.write { test.realm.add(Task(id: 7, name: "another")) }
        let found = try onOtherThread(test) { other in
            [other.resolve(object) == nil, other.resolve(list) == nil, other.resolve(kept)?.name == "a"]
        }
        #expect(found == [true, true, true])
    }

    @Test("a reference to an object does not resolve to an object that replaces it in the same write N128")
    func replacedInWrite() throws {
        let test = try TestRealm()
        var references: [ThreadSafeReference<Node>] = []
        func addAndReplace() {
            let first = Node(id: 1, name: "first")
            test.realm.add(first)
            references = [ThreadSafeReference(to: first)]
            test.realm.delete(first)
            let second = Node(id: 1, name: "second")
            test.realm.add(second)
            references.append(ThreadSafeReference(to: second))
        }
        try test.realm.write {
            addAndReplace()
            #expect(references.map { test.realm.resolve($0)?.name } == [nil, "second"])
            test.realm.deleteAll()
            addAndReplace()
        }
        #expect(references.map { test.realm.resolve($0)?.name } == [nil, "second"])
    }

    @Test("resolving refreshes a Realm that shows an older version than the reference N128")
    func refreshes() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        let queue = DispatchQueue(label: "resolver")
        let configuration = withoutScheduler(test.configuration)
        nonisolated(unsafe) var other: Realm?
        try queue.sync {
            other = try Realm(configuration: configuration, queue: queue)
            other?.autorefresh = false
            #expect(other?.objects(Dog.self)[0].name == "Rex")
        }
        try test.realm.write {
            rex.name = "Bo"
            test.realm.add(Dog(name: "Max"))
        }
        let (reference, inside) = (ThreadSafeReference(to: rex), ThreadSafeReference(to: test.allDogs[1]))
        try queue.sync {
            let realm = try #require(other)
            #expect(realm.objects(Dog.self).count == 1)
            #expect(realm.resolve(reference)?.name == "Bo")
            #expect(realm.objects(Dog.self).count == 2)
            try realm.write { #expect(realm.resolve(inside)?.name == "Max") }
            other = nil
        }
    }

    @Test("a reference to a frozen object resolves to the live object N128")
    func frozen() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        let reference = ThreadSafeReference(to: rex.freeze())
        try test.realm.write { rex.name = "Bo" }
        #expect(test.realm.resolve(reference) === rex)
    }

    @Test("@ThreadSafe can be read repeatedly on many threads, and is nil after its object is deleted N129")
    func threadSafe() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        @ThreadSafe var dog = rex
        let shared = wrapper(_dog)
        let failures = LockedValue(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<50 where shared.wrappedValue?.name != "Rex" { failures.update { $0 += 1 } }
        }
        #expect(failures.value == 0 && dog === rex)
        try test.realm.write { rex.name = "Bo" }
        #expect(onThread { shared.wrappedValue?.name } == "Bo")
        try test.realm.write { test.realm.delete(rex) }
        #expect(onThread { shared.wrappedValue == nil } && dog == nil)
        try test.realm.write { test.realm.add(Dog(name: "Max")) }
        dog = test.allDogs[0]
        #expect(onThread { shared.wrappedValue?.name } == "Max")
        dog = nil
        #expect(shared.wrappedValue == nil)
    }

    private func wrapper(_ wrapper: ThreadSafe<Dog>) -> ThreadSafe<Dog> { wrapper }
}

/// The configuration of the file without the manual scheduler of the test.
func withoutScheduler(_ configuration: Realm.Configuration) -> Realm.Configuration {
    var configuration = configuration
    configuration.scheduler = nil
    return configuration
}
