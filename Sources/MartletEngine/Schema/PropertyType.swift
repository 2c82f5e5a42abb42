/// The scalar types of the schema language.
package enum ScalarType: String, Sendable, CaseIterable {
    case bool = "Bool"
    case int = "Int"
    case int8 = "Int8"
    case int16 = "Int16"
    case int32 = "Int32"
    case int64 = "Int64"
    case float = "Float"
    case double = "Double"
    case string = "String"
    case data = "Data"
    case date = "Date"
    case uuid = "UUID"
    case objectId = "ObjectId"
    case decimal128 = "Decimal128"
    case any = "AnyRealmValue"

    /// Floating-point types can have values that SQLite's REAL cannot store: NaN and negative zero.
    package var isFloating: Bool { self == .float || self == .double || self == .date }

    package var isInteger: Bool {
        switch self {
        case .int, .int8, .int16, .int32, .int64: true
        default: false
        }
    }
}

/// The type of the value of a property, or of an element of a collection.
package enum ElementType: Sendable, Equatable {
    case scalar(ScalarType)
    case intEnum
    case stringEnum
    case link(String)
    case embedded(String)

    /// The name of the object type that a link refers to.
    package var target: String? {
        switch self {
        case .link(let name), .embedded(let name): name
        default: nil
        }
    }

    package var isEmbedded: Bool {
        if case .embedded = self { return true }
        return false
    }

    package var isFloating: Bool {
        if case .scalar(let scalar) = self { return scalar.isFloating }
        return false
    }

    /// True for the raw values of an enum.
    package var isEnum: Bool { self == .intEnum || self == .stringEnum }
}

/// Whether a property has one value or a collection of values, or is the inverse of another property.
package enum PropertyKind: Sendable, Equatable {
    case single, list, set, map
    case linkingObjects(type: String, property: String)
}

package enum DeletionRule: String, Sendable {
    case nullify, cascade, deny
}
