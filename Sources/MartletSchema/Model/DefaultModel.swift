/// The default value of a property. The compiler has checked that the property's type allows it.
///
/// For a property of type `AnyRealmValue`, the case of this enum determines the type of the value.
public enum DefaultModel: Hashable, Sendable {
    case bool(Bool)
    /// A value that fits the integer type of the property.
    case integer(Int64)
    /// A finite value. If the type of the property is `Float`, the value is in the range of `Float`.
    case floating(Double)
    case string(String)
    case data([UInt8])
    /// Seconds since 2001-01-01T00:00:00Z, which can be passed to `Date(timeIntervalSinceReferenceDate:)`.
    case date(Double)
    /// `now`: the time at which the object is created.
    case now
    /// Sixteen bytes.
    case uuid([UInt8])
    /// `new`: a new `UUID` for each object.
    case newUUID
    /// Twelve bytes.
    case objectId([UInt8])
    /// `new`: a new `ObjectId` for each object.
    case newObjectId
    /// A decimal number such as `-12.50` or `1E+400`.
    case decimal128(String)
    /// The name of a case of the property's enum.
    case enumCase(String)
}
