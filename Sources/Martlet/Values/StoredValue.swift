package import MartletSQLite

/// A value as a file keeps it: what elements of collections and untyped access go through.
public struct StoredValue: Sendable, Hashable {
    package let raw: SQLValue

    package init(_ raw: SQLValue) { self.raw = raw }

    /// The absence of a value.
    public static let null = StoredValue(.null)
}

/// What a property, or an element of a collection, may hold.
///
/// Generated classes use the conformances of the library; a type of your own cannot be stored.
public protocol PersistableValue {
    /// The value as a file keeps it.
    var _stored: StoredValue { get }
    /// The value from a file; nil when the stored value is of another kind.
    static func _value(_ stored: StoredValue) -> Self?
    /// The value as queries compare it with stored ones.
    var _compared: StoredValue { get }
    /// Objects of a Realm in the value: only that Realm can compare it.
    var _comparedObjects: [AnyObject] { get }
    /// The type's name in messages.
    static var _typeName: String { get }
}

extension PersistableValue {
    /// The value as it is stored.
    public var _compared: StoredValue { _stored }
    /// None.
    public var _comparedObjects: [AnyObject] { [] }
    /// The type's name in messages.
    public static var _typeName: String { "\(Self.self)" }
}

/// What has an order that queries and sorts can use.
public protocol OrderedValue: PersistableValue {
    /// The type without its optionality: what a least or greatest value has.
    associatedtype _Present: OrderedValue = Self
    /// What the value is sorted by.
    var _sortKey: StoredValue { get }
}

extension OrderedValue {
    /// What it is compared by.
    public var _sortKey: StoredValue { _compared }
}

/// What sums and averages can be made of.
public protocol NumericValue: OrderedValue {
    /// What an average is: a decimal of decimals, otherwise a floating number.
    associatedtype _Average: NumericValue = Double
    /// The value nearest to a sum computed by the database.
    static func _number(_ stored: StoredValue) -> Self
    /// The same for a sum; nil when it does not fit.
    static func _sum(_ stored: StoredValue) -> Self?
}
