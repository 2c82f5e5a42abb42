// Calls on a Realm. How to read these files: see Tests/mistakes-check.py
import ConformanceModels
import KennelModels
import Martlet

/// An integer as the primary key of a class whose key is a string.
/// error: cannot convert value of type 'Int' to expected argument type 'StringKey._PrimaryKey' (aka 'String')
func integerForStringKey(_ realm: Realm) {
    _ = realm.object(ofType: StringKey.self, forPrimaryKey: 3)
    // right: _ = realm.object(ofType: StringKey.self, forPrimaryKey: "3")
}

/// A string as the primary key of a class whose key is an integer.
/// error: cannot convert value of type 'String' to expected argument type 'Todo._PrimaryKey' (aka 'Int')
func stringForIntegerKey(_ realm: Realm) {
    _ = realm.object(ofType: Todo.self, forPrimaryKey: "3")
    // right: _ = realm.object(ofType: Todo.self, forPrimaryKey: 3)
}

/// A string as the primary key of a class whose key is an `ObjectId`.
/// error: cannot convert value of type 'String' to expected argument type 'Dog._PrimaryKey' (aka 'ObjectId')
func stringForObjectID(_ realm: Realm, _ id: String) throws {
    _ = realm.object(ofType: Dog.self, forPrimaryKey: id)
    // right: _ = realm.object(ofType: Dog.self, forPrimaryKey: try ObjectId(string: id))
}

/// An optional for a primary key.
/// error: 'String?' must be unwrapped
func optionalForKey(_ realm: Realm, _ code: String?) {
    _ = realm.object(ofType: StringKey.self, forPrimaryKey: code)
    // right: _ = code.flatMap { realm.object(ofType: StringKey.self, forPrimaryKey: $0) }
}

/// A primary key of a class that has none.
/// error: requires that 'Person' conform to 'PrimaryKeyed'
func keyOfClassWithoutKey(_ realm: Realm) {
    _ = realm.object(ofType: Person.self, forPrimaryKey: 3)
    // right: _ = realm.objects(Person.self).where { $0.firstName == "Anna" }.first
}

/// A string as the primary key of a projection's object.
/// error: cannot convert value of type 'String' to expected argument type 'Dog._PrimaryKey' (aka 'ObjectId')
func keyOfProjection(_ realm: Realm, _ dog: Dog) {
    _ = realm.object(ofType: DogProjection.self, forPrimaryKey: "3")
    // right: _ = realm.object(ofType: DogProjection.self, forPrimaryKey: dog.id)
}

/// A property of the result of `object(ofType:forPrimaryKey:)`, without unwrapping the optional.
/// error: value of optional type 'Todo?' must be unwrapped to refer to member 'name'
func foundWithoutUnwrapping(_ realm: Realm) {
    _ = realm.object(ofType: Todo.self, forPrimaryKey: 3).name
    // right: _ = realm.object(ofType: Todo.self, forPrimaryKey: 3)?.name
}

/// An embedded class in `objects`.
/// error: query the objects that contain them
func embeddedObjects(_ realm: Realm) {
    _ = realm.objects(Address.self)
    // right: _ = realm.objects(Person.self).where { $0.address.city == "Oslo" }
}

/// An embedded class in `objects`, with a condition.
/// error: query the objects that contain them
func embeddedObjectsWithCondition(_ realm: Realm) {
    _ = realm.objects(Address.self).where { $0.city == "Oslo" }
    // right: _ = realm.objects(Person.self).where { $0.address.city == "Oslo" }
}

/// A class without `.self`.
/// error: expected member name or initializer call after type name
func classWithoutSelf(_ realm: Realm) {
    _ = realm.objects(Dog)
    // right: _ = realm.objects(Dog.self)
}

/// A condition on projections.
/// error: the objects and project the results
func conditionOnProjections(_ realm: Realm) {
    _ = realm.objects(DogProjection.self).where { $0.name == "Rex" }
    // right: _ = realm.objects(Dog.self).where { $0.name == "Rex" }.projected(DogProjection.self)
}

/// Projections sorted by a key path.
/// error: the objects and project the results
func sortedProjections(_ realm: Realm) {
    _ = realm.objects(DogProjection.self).sorted(byKeyPath: "name")
    // right: _ = realm.objects(Dog.self).sorted(byKeyPath: "name").projected(DogProjection.self)
}

/// An embedded object added by itself.
/// error: assign it to a property
func embeddedAdded(_ realm: Realm, _ person: Person) throws {
    try realm.write {
        realm.add(Address(city: "Oslo"))
        // right: person.address = Address(city: "Oslo")
    }
}

/// An embedded class in `create`.
/// error: assign it to a property
func embeddedCreated(_ realm: Realm, _ person: Person) throws {
    try realm.write {
        realm.create(Address.self, value: ["city": "Oslo"])
        // right: person.address = Address(value: ["city": "Oslo"])
    }
}

/// An optional object added.
/// error: value of optional type 'Dog?' must be unwrapped
func optionalAdded(_ realm: Realm, _ dog: Dog?) throws {
    try realm.write {
        realm.add(dog)
        // right: if let dog { realm.add(dog) }
    }
}

/// A write without `try`.
/// error: call can throw, but it is not marked with 'try'
func writeWithoutTry(_ realm: Realm) {
    realm.write { realm.deleteAll() }
    // right: try? realm.write { realm.deleteAll() }
}

/// An `await` inside a write transaction.
/// error: '() async -> ()' to parameter expecting synchronous function type
func awaitInWrite(_ realm: Realm, _ name: () async -> String) async throws {
    try realm.write { realm.add(Dog(name: await name())) }
    // right: let found = await name()
    // right: try realm.write { realm.add(Dog(name: found)) }
}

/// Linking objects assigned.
/// error: 'dogs' is a get-only property
func linkingObjectsAssigned(_ person: Person, _ dog: Dog) {
    person.dogs = [dog]
    // right: dog.owner = person
}

/// A list assigned from an array.
/// error: '[Dog]' to type 'List<Dog>'
func arrayAssigned(_ dog: Dog, _ others: [Dog]) {
    dog.siblings = others
    // right: dog.siblings.append(objectsIn: others)
}

/// A subclass of a model class.
/// error: inheritance from a final class 'Dog'
class Puppy: Dog {}
// right: typealias Puppy = Dog

/// `await` in code without an actor.
/// error: mark the caller '@MainActor', or open the Realm in a function without 'async'
func opened() async throws {
    _ = try await Realm()
    // right: _ = try await Realm(actor: MainActor.shared)
}

/// A configuration and `await` in code without an actor.
/// error: mark the caller '@MainActor', or open the Realm in a function without 'async'
func openedWithConfiguration(_ configuration: Realm.Configuration) async throws {
    _ = try await Realm(configuration: configuration)
    // right: _ = try await Realm(configuration: configuration, actor: MainActor.shared)
}

/// `Realm.open` in code without an actor.
/// error: mark the caller '@MainActor', or open the Realm in a function without 'async'
func openedByFunction() async throws {
    _ = try await Realm.open()
    // right: _ = try await Realm(actor: MainActor.shared)
}

/// `Realm()` in an asynchronous function without an actor.
/// error: mark the caller '@MainActor', or open the Realm in a function without 'async'
func openedWithoutAwait() async throws {
    _ = try Realm()
    // right: func open() throws { _ = try Realm() }
    // right: try open()
}

/// A Realm opened without `try`.
/// error: call can throw but is not marked with 'try'
func openedWithoutTry() throws {
    _ = Realm()
    // right: _ = try Realm()
}

/// A misspelt class in a configuration.
/// error: 'Dgo'
func classesOfConfiguration() {
    _ = Realm.Configuration(objectTypes: [Dgo.self])
    // right: _ = Realm.Configuration(objectTypes: [Dog.self])
}
