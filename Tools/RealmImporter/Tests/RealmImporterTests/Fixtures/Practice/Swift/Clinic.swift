// Names and layouts that people choose are part of the sample.
// swift-format-ignore-file

import Foundation
import RealmSwift

/// A house where animals are treated.
class Clinic: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var _id: ObjectId
    /// The text on the sign.
    @Persisted(indexed: true) var name = ""
    @Persisted var address: Address?
    @Persisted var rooms: List<Room>
    @Persisted var vets: MutableSet<Vet>
    /// By the day of the week, in English.
    @Persisted var hours: Map<String, OpeningHours?>
    @Persisted var foundedAt: Date?
    @Persisted var phoneNumbers: List<String>
    @Persisted var location: Coordinate
    @Persisted var settings: Map<String, AnyRealmValue>

    var isOpen: Bool { !hours.isEmpty }

    func close(for days: Int) {}
}

/**
 * A room of a clinic.
 *
 * Rooms without equipment are used for waiting.
 */
class Room: EmbeddedObject {
    enum Kind: Int, PersistableEnum {
        case waiting
        case examination
        case surgery = 10
        case xray
    }

    @Persisted var number: Int16 = 1
    @Persisted var kind: Kind = .examination
    @Persisted var equipment: List<String>
    @Persisted(originProperty: "rooms") var clinic: LinkingObjects<Clinic>
}

/// Where something is.
final class Address: EmbeddedObject {
    @Persisted var street: String
    @Persisted var postalCode: String?
    @Persisted(indexed: true) var city: String = "Oslo"
    @Persisted var country: Country = .norway
}

final class OpeningHours: EmbeddedObject {
    /// Minutes after midnight.
    @Persisted var opens: Int = 8 * 60
    @Persisted var closes: Int = 0x3C0
}

enum Country: String, PersistableEnum, Codable {
    case norway = "NO"
    case sweden = "SE"
    case `default` = "??"
}
