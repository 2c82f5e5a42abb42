// Names and layouts that people choose are part of the sample.
// swift-format-ignore-file
import Foundation
import RealmSwift

@objc enum PaymentMethod: Int, RealmEnum {
    case cash
    case card
    case transfer = 10
}

enum InvoiceStatus: String {
    case draft = "Draft"
    case sent = "Sent"
}

/// A bill for an owner.
@objcMembers
class Invoice: Object {
    dynamic var number = 0
    dynamic var text: String? = nil
    dynamic var issuedAt = Date()
    dynamic var statusRaw = InvoiceStatus.draft.rawValue
    dynamic var owner: Owner?
    let lines = List<InvoiceLine>()
    let payments = LinkingObjects(fromType: Payment.self, property: "invoice")
    let reminderCount = RealmOptional<Int>()
    dynamic var isDirty = false

    var status: InvoiceStatus {
        get { InvoiceStatus(rawValue: statusRaw) ?? .draft }
        set { statusRaw = newValue.rawValue }
    }

    override static func primaryKey() -> String? {
        return "number"
    }

    override static func indexedProperties() -> [String] {
        ["issuedAt", "statusRaw"]
    }

    override static func ignoredProperties() -> [String] {
        ["isDirty"]
    }
}

class InvoiceLine: Object {
    @objc dynamic var text = "", unit = "piece"
    @objc dynamic var amount: Double = 1.0
    @objc dynamic var price: NSDecimalNumber = 0
    @objc dynamic var medicine: Medicine?
    let discount = RealmProperty<Double?>()
    let invoices = LinkingObjects(fromType: Invoice.self, property: #keyPath(Invoice.lines))
}

class Payment: Object {
    @objc dynamic var id = UUID()
    @objc dynamic var receivedAt: Date!
    @objc dynamic var method = PaymentMethod.card
    @objc dynamic var invoice: Invoice?
    let amount = RealmProperty<Decimal128?>()

    @objc override open class func primaryKey() -> String? { #keyPath(Payment.id) }

    @objc dynamic var isLarge: Bool { amount.value ?? 0 > 1000 }
}

/// A contract with an insurance company.
class InsurancePolicy: Object {
    @objc dynamic var id: String? = ""
    @objc dynamic var company = ""
    @objc dynamic var hash_ = 0
    @objc dynamic var maximum: Int32 = -1
    let covered = MutableSet<String>()
    let limits = Map<String, Double>()

    override static func primaryKey() -> String? { "id" }
    override class func indexedProperties() -> [String] { Keys.all }
    override class func _realmObjectName() -> String? { "Policy" }
}
