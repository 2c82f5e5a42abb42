import MartletEngine
import MartletSyncProtocol
import MartletValues

/// Converts the elements of one collection to their stored form.
struct ElementConversion {
    private let property: PropertySchema
    /// The targets of links that are not shown.
    private(set) var missing: Set<ObjectAddress> = []

    init(_ property: PropertySchema) { self.property = property }

    /// The stored form of an element; nil if the element is a link that is not shown.
    mutating func stored(_ value: SyncValue, _ targets: CollectionWriter.Targets) throws -> SQLValue? {
        switch property.element {
        case .link: return try link(value, targets)
        case .scalar(.any):
            var missing: [ObjectAddress] = []
            let stored = try AnyConversion.stored(value) { address in
                if let row = try targets(address) { return AnyLink(row.table, row.key) }
                missing.append(address)
                return nil
            }
            self.missing.formUnion(missing)
            return stored
        default:
            guard case .scalar(let scalar) = value, property.accepts(scalar) else {
                throw CollectionWriter.malformed(property)
            }
            return scalar
        }
    }

    private mutating func link(_ value: SyncValue, _ targets: CollectionWriter.Targets) throws -> SQLValue? {
        switch value {
        case .null where property.accepts(.null): return .null
        case .link(let address):
            if let row = try targets(address) { return .integer(row.key) }
            missing.insert(address)
            return nil
        default: throw CollectionWriter.malformed(property)
        }
    }
}
