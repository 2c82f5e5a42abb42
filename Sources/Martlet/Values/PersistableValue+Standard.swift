public import Foundation
import MartletValues

extension Bool: PersistableValue, OrderedValue {
    public var _stored: StoredValue { StoredValue(.integer(self ? 1 : 0)) }
    public static func _value(_ stored: StoredValue) -> Bool? {
        if case .integer(let number) = stored.raw { number != 0 } else { nil }
    }
}

extension FixedWidthInteger where Self: NumericValue {
    public var _stored: StoredValue { StoredValue(.integer(Int64(self))) }
    public static func _value(_ stored: StoredValue) -> Self? {
        if case .integer(let number) = stored.raw { Self(exactly: number) } else { nil }
    }
    public static func _nearest(_ stored: StoredValue) -> Self {
        switch stored.raw {
        case .integer(let number): Self(clamping: number)
        case .real(let number): Self(exactly: number.rounded()) ?? 0
        default: Decimal128._value(stored).flatMap { Double("\($0)") }.flatMap { Self(exactly: $0.rounded()) } ?? 0
        }
    }
    public static func _sum(_ stored: StoredValue) -> Self? {
        switch stored.raw {
        case .integer(let number): Self(exactly: number)
        case .real(let number): Self(exactly: number.rounded())
        case .blob: Decimal128._value(stored).flatMap { Self("\($0)") }
        default: _nearest(stored)
        }
    }
}

extension Int: NumericValue {}
extension Int8: NumericValue {}
extension Int16: NumericValue {}
extension Int32: NumericValue {}
extension Int64: NumericValue {}

// A REAL value in SQLite cannot represent NaN or negative zero. In rows, the `_special` column contains their bits. In
// collections, which have no such column, these values are stored as blobs that contain the bits.
private func storedFloating(_ value: Double) -> StoredValue {
    let isPlain = !value.isNaN && !(value == 0 && value.sign == .minus)
    if isPlain { return StoredValue(.real(value)) }
    return StoredValue(.blob(withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) }))
}

// Queries compare floating-point values as numbers: the two zeros are equal, and NaN equals nothing. In a set, all NaNs
// are the same element.
private func comparedFloating(_ value: Double) -> StoredValue {
    StoredValue(.real(value == 0 ? 0 : value.isNaN ? .nan : value))
}

private func floating(_ stored: StoredValue) -> Double? {
    switch stored.raw {
    case .real(let number): number
    case .integer(let number): Double(number)
    case .blob(let bytes) where bytes.count == 8:
        Double(bitPattern: bytes.enumerated().reduce(UInt64(0)) { $0 | UInt64($1.element) << UInt64(8 * $1.offset) })
    default: nil
    }
}

extension Double: NumericValue {
    public var _stored: StoredValue { storedFloating(self) }
    public var _compared: StoredValue { comparedFloating(self) }
    public static func _value(_ stored: StoredValue) -> Double? { floating(stored) }
    public static func _nearest(_ stored: StoredValue) -> Double {
        floating(stored) ?? Decimal128._value(stored).flatMap { Double("\($0)") } ?? 0
    }
    public static func _sum(_ stored: StoredValue) -> Double? { _nearest(stored) }
}

extension Float: NumericValue {
    public var _stored: StoredValue { storedFloating(Double(self)) }
    public var _compared: StoredValue { comparedFloating(Double(self)) }
    public static func _value(_ stored: StoredValue) -> Float? { floating(stored).map(Float.init) }
    public static func _nearest(_ stored: StoredValue) -> Float { Float(Double._nearest(stored)) }
    public static func _sum(_ stored: StoredValue) -> Float? { _nearest(stored) }
}

extension String: OrderedValue {
    public var _stored: StoredValue { StoredValue(.text(self)) }
    public static func _value(_ stored: StoredValue) -> String? {
        if case .text(let text) = stored.raw { text } else { nil }
    }
}

extension Data: OrderedValue {
    public var _stored: StoredValue { StoredValue(.blob([UInt8](self))) }
    public static func _value(_ stored: StoredValue) -> Data? {
        if case .blob(let bytes) = stored.raw { Data(bytes) } else { nil }
    }
}

extension Date: OrderedValue {
    /// The seconds since 2001-01-01T00:00:00Z, the reference date of `Date`.
    public var _stored: StoredValue { storedFloating(timeIntervalSinceReferenceDate) }
    public var _compared: StoredValue { comparedFloating(timeIntervalSinceReferenceDate) }
    public static func _value(_ stored: StoredValue) -> Date? {
        floating(stored).map(Date.init(timeIntervalSinceReferenceDate:))
    }
}

extension UUID: OrderedValue {
    public var _stored: StoredValue { StoredValue(.blob(withUnsafeBytes(of: uuid) { Array($0) })) }
    public static func _value(_ stored: StoredValue) -> UUID? {
        guard case .blob(let bytes) = stored.raw, bytes.count == 16 else { return nil }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

extension ObjectId: OrderedValue {
    public var _stored: StoredValue { StoredValue(.blob(bytes)) }
    public static func _value(_ stored: StoredValue) -> ObjectId? {
        guard case .blob(let bytes) = stored.raw, bytes.count == 12 else { return nil }
        return bytes.withUnsafeBytes { ObjectId(bytes: $0) }
    }
}

extension Optional: PersistableValue where Wrapped: PersistableValue {
    public var _stored: StoredValue { self?._stored ?? .null }
    public var _compared: StoredValue { self?._compared ?? .null }
    public var _comparedObjects: [AnyObject] { self?._comparedObjects ?? [] }
    public static func _value(_ stored: StoredValue) -> Wrapped?? {
        stored == .null ? .some(nil) : Wrapped._value(stored).map(Optional.some)
    }
    public static var _typeName: String { "\(Wrapped._typeName)?" }
}

extension Optional: OrderedValue where Wrapped: OrderedValue {
    public typealias _NonOptional = Wrapped
    public var _sortKey: StoredValue { self?._sortKey ?? .null }
}

extension Optional: NumericValue where Wrapped: NumericValue {
    public typealias _Average = Wrapped._Average
    public static func _nearest(_ stored: StoredValue) -> Wrapped? { Wrapped._nearest(stored) }
    public static func _sum(_ stored: StoredValue) -> Wrapped?? { Wrapped._sum(stored).map { .some($0) } }
}
