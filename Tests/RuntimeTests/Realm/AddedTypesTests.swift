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
}
