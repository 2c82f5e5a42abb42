/// An enum declared in a schema.
public protocol PersistableEnum: RawRepresentable, PersistableValue, RealmCollectionValue, Sendable, Hashable,
    CaseIterable
where RawValue: PersistableValue & Hashable {
    /// The case for stored values that this build does not know; nil when there is none.
    static var _unknown: Self? { get }
}

extension PersistableEnum {
    /// No case stands for unknown values.
    public static var _unknown: Self? { nil }
    /// The raw value.
    public var _stored: StoredValue { rawValue._stored }
    /// The case with the stored raw value, or the unknown case.
    public static func _value(_ stored: StoredValue) -> Self? {
        RawValue._value(stored).flatMap(Self.init(rawValue:)) ?? (stored == .null ? nil : _unknown)
    }
    /// The zero that a stored property starts with.
    static var first: Self? { allCases.first }
}
