// Names and layouts that people choose are part of the sample.
// swift-format-ignore-file
import Foundation
import RealmSwift

/// What can be prescribed.
open class Medicine: Object {
    @objc public dynamic var code = ""
    @objc public dynamic var name = ""
    @objc public dynamic var supplier: Supplier?
    @objc public dynamic var requiresPrescription = true
    public let batches = List<Batch>()

    public override class func primaryKey() -> String? { "code" }
    public override class func indexedProperties() -> [String] { ["name"] }
}

class Batch: Object {
    @objc dynamic var number = ""
    @objc dynamic var expiresAt = Date(timeIntervalSinceNow: 86_400)
    @objc dynamic var amount: Int64 = 1_000
    let storage = RealmProperty<AnyRealmValue>()
    var label: String { "\(number) until \(expiresAt)" }
}

@available(*, deprecated, renamed: "Batch")
class Package: Object {
    @objc dynamic var serial = UUID().uuidString
    @objc dynamic var contents: Batch?
    @objc dynamic var realmName = "stock"
    @objc dynamic var Serial = 0
}

class Supplier: Object {
    @objc dynamic var id = 0
    @objc dynamic var name = ""
    let medicines = LinkingObjects(fromType: Medicine.self, property: "supplier")
    override static func primaryKey() -> String? { "id" }
}

class Shelf<Item: Object>: Object {
    @objc dynamic var row = 0
}
