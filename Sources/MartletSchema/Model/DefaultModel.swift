/// The default of a property, checked against its type.
///
/// For a property of type `AnyRealmValue` the case says what it holds.
public enum DefaultModel: Hashable, Sendable {
    case bool(Bool)
    /// Fits the width of the property's type.
    case integer(Int64)
    /// Finite; for `Float` it fits a `Float`.
    case floating(Double)
    case string(String)
    case data([UInt8])
    /// Seconds since 2001-01-01T00:00:00Z, as `Date(timeIntervalSinceReferenceDate:)` takes them.
    case date(Double)
    /// `now`: the moment of creation.
    case now
    /// Sixteen bytes.
    case uuid([UInt8])
    /// `new`: a fresh `UUID`.
    case newUUID
    /// Twelve bytes.
    case objectId([UInt8])
    /// `new`: a fresh `ObjectId`.
    case newObjectId
    /// Decimal digits with sign, point and exponent where needed: `-12.50`, `1E+400`.
    case decimal128(String)
    /// The name of a case of the property's enum.
    case enumCase(String)
}
