import Foundation
import KennelModels
import Martlet
import MartletTestSupport
import Testing

/// Runs samples from the documentation of Realm Swift, with unchanged calls.
@Suite("samples")
struct ObservationSampleTests {
    @Test("the samples for a Realm and a collection report each change once N25")
    func realmAndCollection() throws {
        let test = try TestRealm()
        let realm = test.realm
        var updates = 0
        let token = realm.observe { notification, realm in
            // The enum `notification` says which kind of notification it is.
            if notification == .didChange { updates += realm.objects(Dog.self).count }
        }
        let results = realm.objects(Dog.self)
        var reloads = 0
        var rows: [Int] = []
        let notificationToken = results.observe { (changes: RealmCollectionChange) in
            switch changes {
            case .initial:
                reloads += 1
            case .update(_, let deletions, let insertions, let modifications):
                rows += deletions.map { $0 } + insertions.map { $0 } + modifications.map { $0 }
            case .error(let error):
                fatalError("\(error)")
            }
        }
        realm.refresh()
        try realm.write { realm.add(Dog(name: "Max")) }
        realm.refresh()
        #expect(updates == 1)
        #expect(reloads == 1)
        #expect(rows == [0])
        token.invalidate()
        notificationToken.invalidate()
    }

    @Test("the sample for an object reports changes, and with key paths only the changes of these properties N70 N82")
    func object() throws {
        let test = try TestRealm()
        let realm = test.realm
        let dog = Dog()
        dog.name = "Max"
        dog.favoriteToy = "Ball"
        dog.age = 2
        try realm.write { realm.add(dog) }
        var printed: [String] = []
        let block = { (change: ObjectChange<Dog>) in
            switch change {
            case .change(_, let properties):
                for property in properties {
                    printed.append("Property '\(property.name)' changed to '\(property.newValue!)'")
                }
            case .error(let error):
                printed.append("An error occurred: \(error)")
            case .deleted:
                printed.append("The object was deleted.")
            }
        }
        let tokens = [
            dog.observe(block),
            dog.observe(keyPaths: ["favoriteToy", "age"], block),
            dog.observe(keyPaths: [\Dog.favoriteToy, \Dog.age], block),
        ]
        try realm.write { dog.favoriteToy = "Frisbee" }
        realm.refresh()
        #expect(printed == [String](repeating: "Property 'favoriteToy' changed to 'Frisbee'", count: 3))
        printed = []
        try realm.write { dog.name = "Maxamillion" }
        realm.refresh()
        #expect(printed == ["Property 'name' changed to 'Maxamillion'"])
        tokens.forEach { $0.invalidate() }
    }

    @Test("a write with withoutNotifying does not call the observer of the token N115")
    func silently() throws {
        let test = try TestRealm()
        let realm = test.realm
        var calls = 0
        let token = realm.observe { _, _ in calls += 1 }
        try realm.write(withoutNotifying: [token]) { realm.add(Dog()) }
        #expect(calls == 0)
        token.invalidate()
    }

    @Test("the sample for a projection reports a change of its label N119 N122")
    func projection() throws {
        let test = try TestRealm()
        let realm = test.realm
        try realm.write { realm.add(Person(firstName: "Jason", lastName: "Bourne")) }
        let projectedPerson = realm.objects(PersonProjection.self).first(where: { $0.firstName == "Jason" })!
        var printed: [String] = []
        let token = projectedPerson.observe(
            keyPaths: ["firstName"],
            { change in
                switch change {
                case .change(let object, let properties):
                    for property in properties {
                        printed.append("'\(property.name)' of \(object.firstName) changed to '\(property.newValue!)'")
                    }
                case .error(let error):
                    printed.append("An error occurred: \(error)")
                case .deleted:
                    printed.append("The object was deleted.")
                }
            })
        try realm.write { projectedPerson.firstName = "David" }
        realm.refresh()
        #expect(printed == ["'firstName' of David changed to 'David'"])
        token.invalidate()
    }
}
