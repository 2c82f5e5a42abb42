import Foundation
import Martlet
import Measure

/// Opens a Realm that contains only the object types of a workload. The durability is Martlet's default, and equals
/// that of the other peers.
func openRealm(_ job: Job, _ types: [ObjectBase.Type] = [Person.self]) throws -> Realm {
    try Realm(configuration: configuration(job, types))
}

func configuration(_ job: Job, _ types: [ObjectBase.Type]) -> Realm.Configuration {
    var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: job.file))
    configuration.objectTypes = types
    return configuration
}

/// Opens a Realm and reads all rows of `Person` once, so that their pages are cached.
func openWarmRealm(_ job: Job, _ types: [ObjectBase.Type] = [Person.self]) throws -> Realm {
    let realm = try openRealm(job, types)
    _ = realm.objects(Person.self).where { $0.email == "nobody" }.count
    return realm
}

extension Person {
    convenience init(_ values: PersonValues) {
        self.init(
            id: values.id, name: values.name, age: values.age, email: values.email, score: values.score,
            isActive: values.isActive, created: Date(timeIntervalSince1970: Double(values.createdSeconds)))
    }
}

extension IndexedPerson {
    convenience init(_ values: PersonValues) {
        self.init(
            id: values.id, name: values.name, age: values.age, email: values.email, score: values.score,
            isActive: values.isActive, created: Date(timeIntervalSince1970: Double(values.createdSeconds)))
    }
}
