/// An enum declared in a schema. Values are sorted by their raw values.
public protocol PersistableEnum: RawRepresentable, OrderedValue, RealmCollectionValue, Sendable, Hashable,
    CaseIterable, Codable
where RawValue: PersistableValue & Hashable & Codable {
    /// The case for stored raw values that match no other case; nil if the enum declares no such case.
    static var _unknown: Self? { get }
}

extension PersistableEnum {
    /// Nil, because by default an enum has no case for unknown raw values.
    public static var _unknown: Self? { nil }
    /// The case with the stored raw value, or else the case for unknown raw values. Nil if the enum declares no such
    /// case.
    public static func _optionalElement(_ stored: StoredValue, _ elementContext: ElementContext) -> Self? {
        _value(stored)
    }
    /// The raw value.
    public var _stored: StoredValue { rawValue._stored }
    /// The case with the stored raw value, or else the case for unknown raw values.
    public static func _value(_ stored: StoredValue) -> Self? {
        RawValue._value(stored).flatMap(Self.init(rawValue:)) ?? (stored == .null ? nil : _unknown)
    }
    /// Encodes the raw value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// Decodes a raw value to its case, or else to the case for unknown raw values.
    ///
    /// - Throws: `DecodingError` for a raw value without a case, if the enum declares no case for unknown raw values.
    public init(from decoder: any Decoder) throws {
        let rawValue = try decoder.singleValueContainer().decode(RawValue.self)
        guard let known = Self._value(rawValue._stored) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "'\(rawValue)' is not a case of '\(Self.self)'"))
        }
        self = known
    }

    /// The initial value of a stored property, until the property is decoded.
    static var firstCase: Self? { allCases.first }
}
