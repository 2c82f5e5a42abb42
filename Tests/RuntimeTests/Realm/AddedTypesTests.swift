import Foundation
import KennelModels
import Martlet
import MartletTestSupport
import Testing

@Suite("types that are added to an open file")
struct AddedTypesTests {
    @Test("opening a Realm again with more types adds the types, and the objects of the Realm stay valid")
    func addedTypes() throws {
        let test = try TestRealm { $0.objectTypes = [Todo.self] }
        let todo = Todo()
        try test.realm.write { test.realm.add(todo) }
        var allTypes = test.configuration
        allTypes.objectTypes = nil
        let realm = try Realm(configuration: allTypes)
        #expect(realm == test.realm)
        try realm.write { realm.add(Dog(name: "Rex")) }
        #expect(realm.objects(Dog.self).count == 1)
        #expect(realm.objects(Todo.self).first == todo)
    }

    @Test("a Realm with fewer types keeps working after another thread adds types")
    func addedByOtherThread() throws {
        let test = try TestRealm { $0.objectTypes = [Todo.self] }
        try test.realm.write { test.realm.add(Todo()) }
        var allTypes = test.configuration
        allTypes.objectTypes = nil
        let configuration = allTypes
        try test.onNewThread { _ in
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Dog(name: "Rex")) }
        }
        test.realm.refresh()
        try test.realm.write { test.realm.delete(test.realm.objects(Todo.self)) }
        #expect(test.realm.objects(Todo.self).isEmpty)
    }

    /// Returns a Realm with only the class `Todo`, and a configuration of the same file with all classes.
    private func start() throws -> (test: TestRealm, allTypes: Realm.Configuration) {
        let test = try TestRealm { $0.objectTypes = [Todo.self] }
        try test.realm.write { test.realm.add(Todo(id: 1)) }
        var allTypes = test.configuration
        allTypes.objectTypes = nil
        return (test, allTypes)
    }

    /// Expects that opening a Realm throws `.incompatibleConfiguration`.
    private func expectRefusal(_ allTypes: Realm.Configuration, _ location: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: Realm.Error.self, sourceLocation: location) { try Realm(configuration: allTypes) }
        #expect(error?.code == .incompatibleConfiguration, sourceLocation: location)
    }

    @Test("opening a Realm again inside a write throws at once if the file lacks some of the types D78")
    func insideWrite() throws {
        let (test, allTypes) = try start()
        try test.realm.write {
            test.realm.add(Todo(id: 2))
            let start = ContinuousClock.now
            expectRefusal(allTypes)
            #expect(start.duration(to: .now) < .seconds(5))
            let same = try Realm(configuration: test.configuration)
            #expect(same == test.realm)
        }
        let realm = try Realm(configuration: allTypes)
        #expect(realm.objects(Dog.self).isEmpty && realm.objects(Todo.self).count == 2)
    }

    @Test("inside a write, a Realm can be opened again with more types if the file has these types D78")
    func knownTypesInsideWrite() throws {
        let (test, allTypes) = try start()
        var elsewhere = allTypes
        elsewhere.scheduler = nil
        let configuration = elsewhere
        try test.onNewThread { _ in try Realm(configuration: configuration).write {} }
        try test.realm.write {
            let realm = try Realm(configuration: allTypes)
            realm.add(Dog(name: "Rex"))
            #expect(realm.objects(Dog.self).map(\.name) == ["Rex"])
        }
        #expect(test.realm.objects(Dog.self).count == 1)
    }

    @Test("results of a type without a class contain objects that are added later, even after the class was added O14")
    func untypedResults() throws {
        let (test, allTypes) = try start()
        var elsewhere = allTypes
        elsewhere.scheduler = nil
        let configuration = elsewhere
        try test.onNewThread { _ in _ = try Realm(configuration: configuration) }
        try test.realm.write { test.realm.add(Todo(id: 2)) }
        let dogs = test.realm.dynamicObjects("Dog")
        #expect(dogs.isEmpty)
        let realm = try Realm(configuration: allTypes)
        #expect(dogs.isEmpty)
        try realm.write { realm.add(Dog(name: "Rex")) }
        #expect(dogs.count == 1)
    }

    @Test("opening a Realm again in a callback throws if the version of the Realm lacks some of the types D78")
    func insideCallback() throws {
        let (test, allTypes) = try start()
        var calls = 0
        let token = test.realm.objects(Todo.self).observe { _ in
            calls += 1
            expectRefusal(allTypes)
            #expect(test.realm.objects(Todo.self).count == 1)
        }
        test.realm.refresh()
        #expect(calls == 1)
        token.invalidate()
        #expect(try Realm(configuration: allTypes).objects(Dog.self).isEmpty)
    }

    @Test("opening a Realm again refreshes it only if its version lacks types and another Realm has written D78 N29")
    func observersWhileOpening() throws {
        let (test, allTypes) = try start()
        let todos = test.realm.objects(Todo.self)
        var counts: [Int] = []
        let token = todos.observe { _ in counts.append(todos.count) }
        test.realm.refresh()
        try test.realm.write { test.realm.add(Todo(id: 3)) }
        // No other Realm has written since the refresh. So opening the Realm with more types calls no observer.
        var twoTypes = test.configuration
        twoTypes.objectTypes = [Todo.self, DemoObject.self]
        _ = try Realm(configuration: twoTypes)
        #expect(counts == [1] && test.realm.objects(DemoObject.self).isEmpty)
        test.realm.refresh()
        try test.onNewThread { realm in try realm.write { realm.add(Todo(id: 4)) } }
        #expect(counts == [1, 2])
        // The version that the Realm shows lacks some types, and another Realm has written. So opening the Realm again
        // refreshes it.
        #expect(try Realm(configuration: allTypes).objects(Dog.self).isEmpty)
        #expect(counts == [1, 2, 3] && todos.count == 3)
        // The version that the Realm shows has all types. So the Realm stays at this version, although another Realm has
        // written.
        try test.onNewThread { realm in try realm.write { realm.add(Todo(id: 5)) } }
        _ = try Realm(configuration: allTypes)
        #expect(counts == [1, 2, 3] && todos.count == 3)
        withExtendedLifetime(token) {}
    }
}
