import Foundation
import KennelModels
import Martlet
import MartletTestSupport
import Testing

@Suite("types that join an open file")
struct SchemaInUseTests {
    @Test("a Realm that is opened again with more types knows them, and its objects stay")
    func wider() throws {
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

    @Test("a Realm of another thread that knows fewer types goes on beside one that adds some")
    func besides() throws {
        let test = try TestRealm { $0.objectTypes = [Todo.self] }
        try test.realm.write { test.realm.add(Todo()) }
        var wide = test.configuration
        wide.objectTypes = nil
        let configuration = wide
        try test.elsewhere { _ in
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Dog(name: "Rex")) }
        }
        test.realm.refresh()
        try test.realm.write { test.realm.delete(test.realm.objects(Todo.self)) }
        #expect(test.realm.objects(Todo.self).isEmpty)
    }
}
