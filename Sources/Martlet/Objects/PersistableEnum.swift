/// An enum declared in a schema. Its cases have the order of their raw values.
public protocol PersistableEnum: RawRepresentable, OrderedValue, RealmCollectionValue, Sendable, Hashable,
    CaseIterable, Codable
where RawValue: PersistableValue & Hashable & Codable {
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
    /// Encodes the raw value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// The case with a raw value, or the case for unknown ones.
    ///
    /// - Throws: `DecodingError` for a raw value without a case.
    public init(from decoder: any Decoder) throws {
        let rawValue = try decoder.singleValueContainer().decode(RawValue.self)
        guard let known = Self._value(rawValue._stored) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "'\(rawValue)' is no case of '\(Self.self)'"))
        }
        self = known
    }

    /// The zero that a stored property starts with.
    static var first: Self? { allCases.first }
}
