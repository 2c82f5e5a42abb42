// Names and layouts that people choose are part of the sample.
// swift-format-ignore-file
import CoreLocation
import Foundation
import RealmSwift

typealias Text = String
typealias Animals = List<Animal>

/// A patient.
class Animal: Object, ObjectKeyIdentifiable {
    enum Species: String, PersistableEnum {
        case dog, cat, rabbit, other
    }

    enum Sex: String, PersistableEnum {
        case female = "f"
        case male = "m"
    }

    @Persisted(primaryKey: true) var id = UUID().uuidString
    @Persisted(indexed: true) var name: Text
    @Persisted var species = Species.dog
    @Persisted var sex: Sex?
    @Persisted var bornAt: Date?
    @Persisted var weight: Float = -1.0
    @Persisted var chip: Chip?
    @Persisted var breed: Breed?
    @Persisted var siblings: Animals
    @Persisted var photo: Data?
    @Persisted var lastSeen: CLLocation?
    @Persisted var color: RGBColor
    @Persisted(originProperty: "pets") var owners: LinkingObjects<Owner>
    @Persisted(originProperty: "animal") var visits: LinkingObjects<Visit>
    @Persisted var extra: AnyRealmValue = .string("none: yet")
    @Persisted var _revision: Int64 = 1 {
        didSet { print("changed") }
    }

    /// Whether its row is open.
    var isExpanded: Bool = false
    lazy var formatter = DateFormatter()
    weak var delegate: AnimalDelegate?
    let maximumWeight = 120.0

    static let collar = "leather"
}

class Breed: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var averageWeight: Double?
    @Persisted var parent: Breed?
    @Persisted var description_: String
    @Persisted var value: Int = 0

    override class func propertiesMapping() -> [String: String] {
        ["averageWeight": "avg_weight", "parent": "parent_breed"]
    }
}

final class Chip: EmbeddedObject {
    @Persisted var code: String = "a \"b\" # c\n"
    @Persisted var implantedAt = Date()
    #if DEBUG
        @Persisted var isFake: Bool
    #else
        @Persisted var maker: String
    #endif
}

protocol AnimalDelegate: AnyObject {}
