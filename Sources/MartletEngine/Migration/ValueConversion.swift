import Foundation
import MartletSQLite
import MartletValues

/// Converts a stored value to another type if the new type can represent it. The article Migrations.md lists the
/// conversions.
///
/// All floating-point values are passed as `SQLValue.real`, including NaN and negative zero.
enum ValueConversion {
    /// Returns the converted value, or nil if the value cannot be converted.
    static func convert(_ value: SQLValue, from old: ElementType, to new: ElementType) -> SQLValue? {
        if old == new || value == .null { return value }
        switch (stored(old), stored(new)) {
        case (.link(let before), .link(let after)): return before == after ? value : nil
        case (.scalar(let before), .scalar(let after)): return convert(value, before, after)
        default: return nil
        }
    }

    private enum Stored {
        case scalar(ScalarType)
        case link(String)
    }

    // An enum is converted as its raw value. The caller checks whether the enum has a case with that value.
    private static func stored(_ element: ElementType) -> Stored {
        switch element {
        case .scalar(let scalar): .scalar(scalar)
        case .intEnum: .scalar(.int)
        case .stringEnum: .scalar(.string)
        case .link(let type), .embedded(let type): .link(type)
        }
    }

    private static func convert(_ value: SQLValue, _ old: ScalarType, _ new: ScalarType) -> SQLValue? {
        if old == new { return value }
        switch (value, new) {
        case (.integer(let number), _) where old == .bool: return bool(number != 0, new)
        case (.integer(let number), _) where old.isInteger || old == .any: return integer(number, new)
        case (.real(let number), _) where old == .float || old == .double || old == .any:
            return real(number, new, isFloat: old == .float)
        case (.text(let text), _): return Self.text(text, new)
        case (.blob(let bytes), .string) where old == .uuid || old == .objectId:
            return .text(hexadecimal(bytes, .scalar(old)))
        case (.blob(let bytes), _) where old == .any:
            return number(tagged: bytes).flatMap { real($0, new, isFloat: value.tag == .float) }
        default: return nil
        }
    }

    /// The number in an `AnyRealmValue` that is stored with a tag. Such a number is a `Float`, NaN or negative zero.
    static func number(tagged bytes: [UInt8]) -> Double? {
        let value = SQLValue.blob(bytes)
        guard let tag = value.tag, tag == .float || tag == .double, AnyValue.isWellFormed(value) else { return nil }
        let bits = bytes.dropFirst().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return tag == .double
            ? Double(bitPattern: bits) : Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    }

    private static func bool(_ value: Bool, _ new: ScalarType) -> SQLValue? {
        if new == .string { return .text(value ? "true" : "false") }
        return new.isInteger ? .integer(value ? 1 : 0) : nil
    }

    private static func integer(_ number: Int64, _ new: ScalarType) -> SQLValue? {
        switch new {
        case .bool: number == 0 || number == 1 ? .integer(number) : nil
        case .float: Float(exactly: number).map { .real(Double($0)) }
        case .double: Double(exactly: number).map { .real($0) }
        case .string: .text("\(number)")
        case .any: .integer(number)
        default: fits(number, new) ? .integer(number) : nil
        }
    }

    private static func fits(_ number: Int64, _ type: ScalarType) -> Bool {
        switch type {
        case .int, .int64: true
        case .int8: Int8(exactly: number) != nil
        case .int16: Int16(exactly: number) != nil
        case .int32: Int32(exactly: number) != nil
        default: false
        }
    }

    // A `Float` is written with the digits that identify it as a `Float`: 0.1, not 0.10000000149011612.
    private static func real(_ number: Double, _ new: ScalarType, isFloat: Bool) -> SQLValue? {
        switch new {
        case .double: .real(number)
        case .float: number.isNaN || Double(Float(number)) == number ? .real(number) : nil
        case .string: .text(isFloat ? "\(Float(number))" : "\(number)")
        case .any where FloatingSpecials.needsBits(number): nil
        case .any: isFloat ? AnyValueTag.float.tagged(.real(number)) : .real(number)
        default: Int64(exactly: number).flatMap { fits($0, new) ? .integer($0) : nil }
        }
    }

    private static func text(_ text: String, _ new: ScalarType) -> SQLValue? {
        switch new {
        case .string, .any: .text(text)
        case .bool: text == "true" ? .integer(1) : text == "false" ? .integer(0) : nil
        case .double: Double(text).map { .real($0) }
        case .float: Float(text).map { .real(Double($0)) }
        case .uuid: UUID(uuidString: text).map { id in .blob(withUnsafeBytes(of: id.uuid) { Array($0) }) }
        case .objectId: objectId(text).map { .blob($0) }
        default: Int64(text).flatMap { fits($0, new) ? .integer($0) : nil }
        }
    }

    private static func objectId(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 24, text.utf8.count == 24 else { return nil }
        return stride(from: 0, to: 24, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// A UUID or ObjectId in its usual notation.
    static func hexadecimal(_ bytes: [UInt8], _ element: ElementType) -> String {
        if element == .scalar(.uuid), bytes.count == 16 {
            return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString }
        }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
