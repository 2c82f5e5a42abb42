import Foundation
import MartletEngine
import MartletSQLite

/// Conversions between `Any` and what a file stores, for untyped access.
enum UntypedValue {
    /// The Swift value of a stored one.
    static func swift(_ value: SQLValue, _ element: ElementType) -> Any? {
        let stored = StoredValue(value)
        guard value != .null else { return nil }
        switch element {
        case .intEnum: return Int._value(stored)
        case .stringEnum: return String._value(stored)
        case .link, .embedded: return Int64._value(stored)
        case .scalar(let scalar): return type(of: scalar)?._value(stored).flatMap { unwrapped($0) }
        }
    }

    /// The stored value of a Swift one; nil when it does not fit.
    static func stored(_ value: Any?, _ element: ElementType, isOptional: Bool) -> SQLValue? {
        guard let value else { return isOptional ? .null : nil }
        switch element {
        case .intEnum: return (integer(value) ?? rawValue(value).flatMap(integer)).map { .integer($0) }
        case .stringEnum: return ((value as? String) ?? rawValue(value) as? String).map { .text($0) }
        case .link, .embedded: return nil
        case .scalar(let scalar): return stored(value, scalar)
        }
    }

    private static func stored(_ value: Any, _ scalar: ScalarType) -> SQLValue? {
        switch scalar {
        case .bool: return (value as? Bool).map { $0._stored.raw }
        case .int, .int64: return integer(value).map { .integer($0) }
        case .int8: return integer(value).flatMap { Int8(exactly: $0) }.map { $0._stored.raw }
        case .int16: return integer(value).flatMap { Int16(exactly: $0) }.map { $0._stored.raw }
        case .int32: return integer(value).flatMap { Int32(exactly: $0) }.map { $0._stored.raw }
        case .float: return floating(value).map { Float($0)._stored.raw }
        case .double: return floating(value).map { $0._stored.raw }
        case .any: return AnyRealmValue(untyped: value) { $0 }?._stored.raw
        case .string, .data, .date, .uuid, .objectId, .decimal128:
            guard let type = type(of: scalar), let given = value as? any PersistableValue, Swift.type(of: given) == type
            else { return nil }
            return given._stored.raw
        }
    }

    private static func integer(_ value: Any) -> Int64? {
        guard !(value is Bool), let number = value as? any FixedWidthInteger else { return nil }
        return Int64(exactly: number)
    }

    private static func floating(_ value: Any) -> Double? {
        switch value {
        case let number as Double: number
        case let number as Float: Double(number)
        default: integer(value).map { Double($0) }
        }
    }

    private static func rawValue(_ value: Any) -> Any? { (value as? any PersistableEnum)?.rawValue }

    /// `Any` without optionals and views around it; what JSON readers give as plain Swift values.
    static func unwrapped(_ value: Any?) -> Any? {
        guard let value else { return nil }
        if let layer = value as? any UntypedLayer { return unwrapped(layer.inner) }
        guard Swift.type(of: value) is AnyClass else { return value }
        if value is NSNull { return nil }
        return (value as? NSNumber).map(plain) ?? value
    }

    private static func plain(_ number: NSNumber) -> Any {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "B"): number.boolValue
        case UInt8(ascii: "c") where number === NSNumber(value: true) || number === NSNumber(value: false):
            number.boolValue
        case UInt8(ascii: "d"), UInt8(ascii: "f"): number.doubleValue
        default: number.int64Value
        }
    }

    static func type(of scalar: ScalarType) -> (any PersistableValue.Type)? {
        switch scalar {
        case .bool: Bool.self
        case .int: Int.self
        case .int8: Int8.self
        case .int16: Int16.self
        case .int32: Int32.self
        case .int64: Int64.self
        case .float: Float.self
        case .double: Double.self
        case .string: String.self
        case .data: Data.self
        case .date: Date.self
        case .uuid: UUID.self
        case .objectId: ObjectId.self
        case .decimal128: Decimal128.self
        case .any: AnyRealmValue.self
        }
    }
}

/// What stands around an untyped value without being one: an optional, or a view of an object or collection by names.
protocol UntypedLayer {
    var inner: Any? { get }
}

extension Optional: UntypedLayer {
    var inner: Any? { self }
}
