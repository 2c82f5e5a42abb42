import Foundation
import MartletEngine
import MartletValues

/// Conversions between `Any` and stored values, for untyped access.
enum UntypedValue {
    /// The Swift value for a stored value.
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

    /// The stored value for a Swift value; nil if the value does not fit the type.
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
        case .bool: return bool(value).map { $0._stored.raw }
        case .int, .int64: return integer(value).map { .integer($0) }
        case .int8: return integer(value).flatMap { Int8(exactly: $0) }.map { $0._stored.raw }
        case .int16: return integer(value).flatMap { Int16(exactly: $0) }.map { $0._stored.raw }
        case .int32: return integer(value).flatMap { Int32(exactly: $0) }.map { $0._stored.raw }
        case .float: return floating(value).flatMap(float).map { $0._stored.raw }
        case .double: return floating(value).map { $0._stored.raw }
        case .any: return AnyRealmValue(untyped: value) { $0 }?._stored.raw
        case .string: return (value as? String).map { $0._stored.raw }
        case .data: return (value as? Data).map { $0._stored.raw }
        case .date: return (value as? Date).map { $0._stored.raw }
        case .uuid: return (value as? UUID ?? text(value).flatMap { UUID(uuidString: $0) }).map { $0._stored.raw }
        case .objectId:
            return (value as? ObjectId ?? text(value).flatMap { try? ObjectId(string: $0) }).map { $0._stored.raw }
        case .decimal128: return decimal(value).map { $0._stored.raw }
        }
    }

    // Returns a string. JSON has no values of types such as UUID, and represents them by strings.
    private static func text(_ value: Any) -> String? { value as? String }

    private static func bool(_ value: Any) -> Bool? {
        if let value = value as? Bool { return value }
        guard let number = floating(value), number == 0 || number == 1 else { return nil }
        return number == 1
    }

    private static func integer(_ value: Any) -> Int64? {
        guard !(value is Bool), let number = value as? any FixedWidthInteger else { return nil }
        return Int64(exactly: number)
    }

    private static func floating(_ value: Any) -> Double? {
        switch value {
        case let number as Double: number
        case let number as Float: Double(number)
        case let number as Decimal: NSDecimalNumber(decimal: number).doubleValue
        case is Bool: nil
        default: (value as? any FixedWidthInteger).map { Double($0) }
        }
    }

    // Nil if a finite number would overflow to infinity.
    private static func float(_ number: Double) -> Float? {
        let float = Float(number)
        return float.isInfinite && number.isFinite ? nil : float
    }

    // Converts the decimal description of a floating-point number, and not its exact binary value.
    private static func decimal(_ value: Any) -> Decimal128? {
        switch value {
        case let number as Decimal128: return number
        case is Double, is Float, is Decimal, is String: return try? Decimal128(string: "\(value)")
        default:
            if let number = integer(value) { return Decimal128(Int(number)) }
            return value is Bool ? nil : (value as? any FixedWidthInteger).flatMap { try? Decimal128(string: "\($0)") }
        }
    }

    // MARK: Types known at run time

    /// Converts a value to the element type of a collection; nil if the value does not fit the type.
    static func element<Element>(_ value: Any, as type: Element.Type) -> Element? {
        let wrapped = (type as? any UntypedOptional.Type)?.wrapped ?? type
        guard let element = elementType(of: wrapped), let stored = stored(value, element, isOptional: false) else {
            return nil
        }
        if let type = wrapped as? any PersistableEnum.Type, !isCase(stored, of: type) { return nil }
        return (wrapped as? any PersistableValue.Type)?._value(StoredValue(stored)) as? Element
    }

    private static func elementType(of type: Any.Type) -> ElementType? {
        if let type = type as? any PersistableEnum.Type { return rawType(of: type) }
        return scalars[ObjectIdentifier(type)].map { .scalar($0) }
    }

    private static func rawType<E: PersistableEnum>(of type: E.Type) -> ElementType {
        E.RawValue.self == String.self ? .stringEnum : .intEnum
    }

    private static let scalars = Dictionary(
        ScalarType.allCases.compactMap { scalar in type(of: scalar).map { (ObjectIdentifier($0), scalar) } },
        uniquingKeysWith: { first, _ in first })

    /// True for the raw value of a case, including the raw value of the `unknown` case. False for every other raw
    /// value.
    static func isCase(_ stored: SQLValue, of type: any PersistableEnum.Type) -> Bool {
        type._value(StoredValue(stored))?._stored.raw == stored
    }

    /// The name of an enum with its raw values, for messages.
    static func described(_ type: any PersistableEnum.Type, isOptional: Bool = false) -> String {
        let values = rawValues(of: type)
        let shown = values.prefix(12).joined(separator: ", ") + (values.count > 12 ? ", …" : "")
        return "'\(type._typeName)\(isOptional ? "?" : "")', one of \(shown)"
    }

    private static func rawValues<E: PersistableEnum>(of type: E.Type) -> [String] {
        E.allCases.map { $0.rawValue is String ? "'\($0.rawValue)'" : "\($0.rawValue)" }
    }

    // MARK: Wrappers around a value

    /// Replaces an `AnyRealmValue` by its contents. Returns any other value unchanged.
    static func contents(of value: Any?) -> Any? {
        guard let value = value as? AnyRealmValue else { return value }
        switch value {
        case .none: return nil
        case .bool(let value): return value
        case .int(let value): return value
        case .float(let value): return value
        case .double(let value): return value
        case .string(let value): return value
        case .data(let value): return value
        case .date(let value): return value
        case .decimal128(let value): return value
        case .objectId(let value): return value
        case .uuid(let value): return value
        case .object(let object): return object
        case .list(let values): return values.map { contents(of: $0) }
        case .map(let entries): return entries.mapValues { contents(of: $0) }
        }
    }

    private static func rawValue(_ value: Any) -> Any? { (value as? any PersistableEnum)?.rawValue }

    /// Removes wrappers around the value, such as optionals and dynamic objects. Converts Foundation values, which JSON
    /// decoders return, to Swift values.
    static func unwrapped(_ value: Any?) -> Any? {
        guard let value else { return nil }
        if let layer = value as? any UntypedWrapper { return unwrapped(layer.inner) }
        guard Swift.type(of: value) is AnyClass else { return value }
        if value is NSNull { return nil }
        if let number = value as? NSDecimalNumber { return number.decimalValue }
        return (value as? NSNumber).map(swiftNumber) ?? value
    }

    /// The value as an instance of a class, or of a class-bound protocol; nil for any other value.
    ///
    /// Only instances of classes are cast: before Swift casts a dictionary or an array to a class, it converts all
    /// contents, at any depth, to Foundation objects.
    static func instance<Instance>(_ value: Any?, of type: Instance.Type) -> Instance? {
        guard let value = unwrapped(value), Swift.type(of: value) is AnyClass else { return nil }
        return value as? Instance
    }

    private static func swiftNumber(_ number: NSNumber) -> Any {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "B"): number.boolValue
        case UInt8(ascii: "c") where number === NSNumber(value: true) || number === NSNumber(value: false):
            number.boolValue
        case UInt8(ascii: "d"), UInt8(ascii: "f"): number.doubleValue
        // Unsigned numbers, which may be too large for an Int64.
        case UInt8(ascii: "Q"), UInt8(ascii: "L"): Int64(exactly: number.uint64Value) ?? number.uint64Value as Any
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

/// A wrapper around an untyped value: an optional, or dynamic access to an object or collection.
protocol UntypedWrapper {
    var inner: Any? { get }
}

extension Optional: UntypedWrapper {
    var inner: Any? { self }
}

/// The protocol of `Optional`. It gives access to the wrapped type of an optional type that is known only at run time.
protocol UntypedOptional {
    static var wrapped: Any.Type { get }
}

extension Optional: UntypedOptional {
    static var wrapped: Any.Type { Wrapped.self }
}
