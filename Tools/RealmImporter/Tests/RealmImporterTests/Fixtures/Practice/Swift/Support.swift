import CoreLocation
import RealmSwift

/// A position. Realm stores it as a `StoredCoordinate`.
struct Coordinate {
    var latitude = 0.0
    var longitude = 0.0
}

class StoredCoordinate: EmbeddedObject {
    @Persisted var latitude: Double
    @Persisted var longitude: Double
}

extension Coordinate: CustomPersistable {
    typealias PersistedType = StoredCoordinate

    init(persistedValue: StoredCoordinate) {
        self.init(latitude: persistedValue.latitude, longitude: persistedValue.longitude)
    }

    var persistableValue: StoredCoordinate { StoredCoordinate() }
}

enum RGBColor: UInt8, FailableCustomPersistable {
    typealias PersistedType = Int
    case red, green, blue

    init?(persistedValue: Int) { self.init(rawValue: UInt8(persistedValue)) }
    var persistableValue: Int { Int(rawValue) }
}

extension Animal {
    var age: Int { 3 }
}

extension Breed: Encodable {}

enum Keys {
    static let all = ["company"]
}
