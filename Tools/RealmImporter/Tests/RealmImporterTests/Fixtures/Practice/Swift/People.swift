import Foundation
import RealmSwift

/// The properties of all people.
class Person: Object {
    @Persisted(primaryKey: true) var id: UUID
    @Persisted var firstName: String
    @Persisted var lastName: String
    @Persisted var email: String?
    @Persisted var createdAt: Date
    var isSelected = false
}

/// Pays the invoices.
class Owner: Person, Codable {
    @Persisted var address: Address?
    @Persisted var pets: List<Animal>
    @Persisted var remindsByMail: Bool = true
    @Persisted var discount: Decimal128 = 0.15
    @Persisted var notes: List<String?>

    convenience init(firstName: String, lastName: String) {
        self.init()
        self.firstName = firstName
        self.lastName = lastName
    }
}

class Employee: Person {
    @Persisted(indexed: true) var number: Int
    @Persisted var salary: Double = 0
    @Persisted var hiredAt = Date(timeIntervalSince1970: 1_704_067_200)
}

/// Treats the animals.
class Vet: Employee {
    @Persisted var title: String? = "Dr."
    @Persisted var specialities: MutableSet<Speciality>
    @Persisted(originProperty: "vet") var visits: LinkingObjects<Visit>
    @available(*, deprecated, message: "Use specialities.")
    @Persisted var speciality: Speciality?
}

class Receptionist: Employee {
    @Persisted var languages: MutableSet<String>
    @Persisted private var pin: Data = Data()
}

/// A field of a vet.
enum Speciality: String, PersistableEnum {
    /// Broken bones.
    case surgery
    /// Everything that itches.
    case skin
    case teeth

    var symbol: String { rawValue.uppercased() }
}
