package import MartletValues

/// A value in its stored form. Elements of collections and untyped access use it.
public struct StoredValue: Sendable, Hashable {
    package let raw: SQLValue

    package init(_ raw: SQLValue) { self.raw = raw }

    /// The absence of a value.
    public static let null = StoredValue(.null)
}

/// A type that a property, or an element of a collection, can have.
///
/// Types of the library and generated enums conform to this protocol. Other types of a program cannot be stored, even
/// if they conform.
public protocol PersistableValue {
    /// The stored form of the value.
    var _stored: StoredValue { get }
    /// Converts a stored value to this type; nil if the stored value has another type.
    static func _value(_ stored: StoredValue) -> Self?
    /// The form of the value that queries compare with stored values.
    var _compared: StoredValue { get }
    /// The managed objects in the value. Only queries of the Realm of these objects can use the value.
    var _comparedObjects: [AnyObject] { get }
    /// The name of the type in messages.
    static var _typeName: String { get }
}

extension PersistableValue {
    /// The stored form of the value.
    public var _compared: StoredValue { _stored }
    /// An empty array.
    public var _comparedObjects: [AnyObject] { [] }
    /// The name of the type in messages.
    public static var _typeName: String { "\(Self.self)" }
}

/// A type with an order that queries and sorts can use.
public protocol OrderedValue: PersistableValue {
    /// The type of a minimum or maximum: this type, or the wrapped type of an optional.
    associatedtype _NonOptional: OrderedValue = Self
    /// The form by which values are sorted.
    var _sortKey: StoredValue { get }
}

extension OrderedValue {
    /// The form of the value that queries compare with stored values.
    public var _sortKey: StoredValue { _compared }
}

/// A type whose values have sums and averages.
public protocol NumericValue: OrderedValue {
    /// The type of an average: `Decimal128` for decimals, otherwise `Double`.
    associatedtype _Average: NumericValue = Double
    /// The value of this type that is nearest to a sum from the database.
    static func _nearest(_ stored: StoredValue) -> Self
    /// The value of this type for a sum from the database; nil if the type cannot represent the sum.
    static func _sum(_ stored: StoredValue) -> Self?
}
