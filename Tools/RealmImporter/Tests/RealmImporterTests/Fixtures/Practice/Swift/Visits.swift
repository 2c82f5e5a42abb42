import Foundation
import RealmSwift

/// One hour of a patient with a vet.
class Visit: Object {
    enum State: String, PersistableEnum {
        case planned, running, done
    }

    @Persisted(primaryKey: true) var id: ObjectId = ObjectId.generate()
    @Persisted(indexed: true) var startsAt: Date = .now
    @Persisted var duration: TimeInterval = 1_800
    @Persisted var state: State = .planned
    @Persisted var animal: Animal?
    @Persisted var vet: Vet?
    @Persisted var diagnoses: List<Diagnosis>
    @Persisted var measurements: List<Measurement>
    @Persisted var prescriptions: List<Prescription>
    @Persisted var visitors: RealmSwift.List<String>
    @Persisted var total: Decimal128
    @Persisted var attachments: [URL]
    var scratch: [String] = []
}

/// What was found.
class Diagnosis: Object {
    @Persisted(primaryKey: true) var code: String
    @Persisted var text: String = """
        Not yet
        written.
        """
    @Persisted var severity: Int8 = .max
    @Persisted var isContagious: Bool
    @Persisted(originProperty: "diagnoses") var visits: LinkingObjects<Visit>
}

/// What was measured.
class Measurement: EmbeddedObject {
    enum Unit: String, PersistableEnum {
        case kilogram = "kg"
        case degree = "°C"
        case perMinute = "1/min"
    }

    @Persisted var value: Double
    @Persisted var unit: Unit = .kilogram
    @Persisted var takenAt: Date
    @Persisted(wrappedValue: 3) var digits: Int
}

class Prescription: EmbeddedObject {
    @Persisted var medicine: Medicine?
    @Persisted var dose: Double = 1
    @Persisted var timesADay: Int = 3
    @Persisted var until: Date?
}

/// A log that only grows.
class Event: AsymmetricObject {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var text: String
}
