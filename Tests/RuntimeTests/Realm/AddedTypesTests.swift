import Foundation
import KennelModels
import Martlet
import MartletTestSupport
import Testing

@Suite("types that are added to an open file")
struct AddedTypesTests {
    @Test("opening a Realm again with more types adds the types and keeps its objects")
    func addedTypes() throws {
        let test = try TestRealm { $0.objectTypes = [Todo.self] }
        let todo = Todo()
        try test.realm.write { test.realm.add(todo) }
        var wide = test.configuration
        wide.objectTypes = nil
        let realm = try Realm(configuration: wide)
        #expect(realm == test.realm)
        try realm.write { realm.add(Dog(name: "Rex")) }
        #expect(realm.objects(Dog.self).count == 1)
        #expect(realm.objects(Todo.self).first == todo)
    }

    @Test("a Realm with fewer types keeps working after another thread adds types")
    func addedByOtherThread() throws {
        let test = try TestRealm { $0.objectTypes = [Todo.self] }
        try test.realm.write { test.realm.add(Todo()) }
        var wide = test.configuration
        wide.objectTypes = nil
        let configuration = wide
        try test.onNewThread { _ in
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Dog(name: "Rex")) }
        }
        test.realm.refresh()
        try test.realm.write { test.realm.delete(test.realm.objects(Todo.self)) }
        #expect(test.realm.objects(Todo.self).isEmpty)
    }

    /// A Realm without the class `Dog`, and a configuration with it.
    private func start() throws -> (test: TestRealm, wide: Realm.Configuration) {
        let test = try TestRealm { $0.objectTypes = [Todo.self] }
        try test.realm.write { test.realm.add(Todo(id: 1)) }
        var wide = test.configuration
        wide.objectTypes = nil
        return (test, wide)
    }

    private func expectRefusal(_ wide: Realm.Configuration, _ location: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: Realm.Error.self, sourceLocation: location) { try Realm(configuration: wide) }
        #expect(error?.code == .incompatibleConfiguration, sourceLocation: location)
    }

    @Test("opening a Realm again inside a write throws at once if the file lacks the types of its classes D78")
    func insideWrite() throws {
        let (test, wide) = try start()
        try test.realm.write {
            test.realm.add(Todo(id: 2))
            let start = ContinuousClock.now
            expectRefusal(wide)
            #expect(start.duration(to: .now) < .seconds(5))
            let same = try Realm(configuration: test.configuration)
            #expect(same == test.realm)
        }
        let realm = try Realm(configuration: wide)
        #expect(realm.objects(Dog.self).isEmpty && realm.objects(Todo.self).count == 2)
    }

    @Test("inside a write, a Realm can be opened again with more classes if the file has their types D78")
    func knownTypesInsideWrite() throws {
        let (test, wide) = try start()
        var elsewhere = wide
        elsewhere.scheduler = nil
        let configuration = elsewhere
        try test.onNewThread { _ in try Realm(configuration: configuration).write {} }
        try test.realm.write {
            let realm = try Realm(configuration: wide)
            realm.add(Dog(name: "Rex"))
            #expect(realm.objects(Dog.self).map(\.name) == ["Rex"])
        }
        #expect(test.realm.objects(Dog.self).count == 1)
    }

    @Test("opening a Realm again in a callback throws if its version lacks the types of its classes D78")
    func insideCallback() throws {
        let (test, wide) = try start()
        var calls = 0
        let token = test.realm.objects(Todo.self).observe { _ in
            calls += 1
            expectRefusal(wide)
            #expect(test.realm.objects(Todo.self).count == 1)
        }
        test.realm.refresh()
        #expect(calls == 1)
        token.invalidate()
        #expect(try Realm(configuration: wide).objects(Dog.self).isEmpty)
    }

    @Test("opening a Realm again refreshes it only if its version lacks types and another Realm has written D78 N29")
    func observersWhileOpening() throws {
        let (test, wide) = try start()
        let todos = test.realm.objects(Todo.self)
        var counts: [Int] = []
        let token = todos.observe { _ in counts.append(todos.count) }
        test.realm.refresh()
        try test.realm.write { test.realm.add(Todo(id: 3)) }
        // No other Realm has written since, so no observer is called.
        var few = test.configuration
        few.objectTypes = [Todo.self, DemoObject.self]
        _ = try Realm(configuration: few)
        #expect(counts == [1] && test.realm.objects(DemoObject.self).isEmpty)
        test.realm.refresh()
        try test.onNewThread { realm in try realm.write { realm.add(Todo(id: 4)) } }
        #expect(counts == [1, 2])
        // The version that the Realm shows lacks the types of `wide`, and another Realm has written since.
        #expect(try Realm(configuration: wide).objects(Dog.self).isEmpty)
        #expect(counts == [1, 2, 3] && todos.count == 3)
        // The Realm has all types now, so it stays at its version although another Realm has written.
        try test.onNewThread { realm in try realm.write { realm.add(Todo(id: 5)) } }
        _ = try Realm(configuration: wide)
        #expect(counts == [1, 2, 3] && todos.count == 3)
        withExtendedLifetime(token) {}
    }
}
