import Foundation
import MartletEngine
import MartletPostgres
import MartletValues

/// Converts scalar values to JSON and back. The schema contains the type of each value, so the JSON does not name it.
/// (The schema does not contain the types of values in an `AnyRealmValue`. `JSONConversion.anyJSON` encodes these
/// values.)
///
/// Numbers are JSON numbers, with four exceptions. JSON has no NaN and no infinities, and `jsonb` does not keep the
/// sign of zero. So these values become the texts `NaN`, `Infinity`, `-Infinity` and `-0`.
enum JSONScalar {
    /// - Throws: `UnencodableValue` for texts with NUL, which PostgreSQL does not store.
    static func json(_ value: SQLValue, _ element: ElementType) throws(UnencodableValue) -> JSONValue {
        switch (element, value) {
        case (.scalar(.bool), .integer(let number)): return .bool(number != 0)
        case (.scalar(.date), .real(let seconds)): return date(seconds)
        case (.scalar(.float), .real(let number)): return self.number(Float(number))
        case (_, .real(let number)): return self.number(number)
        case (_, .integer(let number)): return .number("\(number)")
        case (_, .text(let text)): return .string(try storable(text))
        case (.scalar(let scalar), .blob(let bytes)): return .init(bytes, scalar)
        default: throw JSONConversion.otherKind
        }
    }

    static func storable(_ text: String) throws(UnencodableValue) -> String {
        guard !text.utf8.contains(0) else {
            throw UnencodableValue("a text contains the character NUL, which PostgreSQL does not store")
        }
        return text
    }

    static func number<Number: BinaryFloatingPoint & CustomStringConvertible>(_ number: Number) -> JSONValue {
        special(number).map(JSONValue.string) ?? .number("\(number)")
    }

    static func special(_ number: some BinaryFloatingPoint) -> String? {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        return number == 0 && number.sign == .minus ? "-0" : nil
    }

    static func date(_ seconds: Double) -> JSONValue {
        JSONDate.text(seconds).map(JSONValue.string) ?? number(seconds)
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: From JSON

    /// The value that the JSON represents; nil if the JSON represents no value of the type.
    static func value(_ json: JSONValue, _ element: ElementType) -> SQLValue? {
        let value: SQLValue?
        switch (element, json) {
        case (.scalar(.bool), .bool(let flag)): value = .integer(flag ? 1 : 0)
        case (.scalar(.float), .number(let text)): value = Float(text).flatMap { $0.isFinite ? .real(Double($0)) : nil }
        case (.scalar(.float), .string(let text)): value = specialNumber(text).map { .real($0) }
        case (.scalar(.double), .number(let text)), (.scalar(.date), .number(let text)):
            value = finite(text).map { .real($0) }
        case (.scalar(.double), .string(let text)): value = specialNumber(text).map { .real($0) }
        case (.scalar(.date), .string(let text)): value = date(text).map { .real($0) }
        case (.scalar(.decimal128), .number(let text)): value = .blob(decimal(text).bytes)
        case (.scalar(.string), .string(let text)), (.stringEnum, .string(let text)): value = .text(text)
        case (.scalar(let scalar), .string(let text)): value = bytes(text, scalar).map { .blob($0) }
        case (_, .number(let text)): value = whole(text).map { .integer($0) }
        default: value = nil
        }
        // A number may be out of the range of its type.
        return value.flatMap { element.accepts($0) ? $0 : nil }
    }

    /// Parses a number. Returns nil for a number beyond the range of `Double`.
    static func finite(_ text: String) -> Double? { Double(text).flatMap { $0.isFinite ? $0 : nil } }

    static func specialNumber(_ text: String) -> Double? {
        switch text {
        case "NaN": .nan
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        case "-0": -0.0
        default: nil
        }
    }

    static func date(_ text: String) -> Double? { specialNumber(text) ?? JSONDate.seconds(text) }

    /// The integer that is equal to a JSON number; nil if the number has a fraction, or does not fit into 64 bits.
    /// PostgreSQL keeps the zeros of `1.00`. It writes `1e2` as `100`, so exponents do not occur.
    static func whole(_ text: String) -> Int64? {
        guard let point = text.firstIndex(of: ".") else { return Int64(text) }
        return text[point...].dropFirst().allSatisfy { $0 == "0" } ? Int64(text[..<point]) : nil
    }

    /// The nearest decimal number with at most 34 digits.
    static func decimal(_ text: String) -> DecimalNumber {
        if let exact = DecimalNumber(text) { return exact }
        // Builds the form that `nearest` parses: a sign, digits without leading zeros, and an exponent.
        let parts = text.lowercased().split(separator: "e", maxSplits: 1)
        let mantissa = parts.first ?? "0"
        var exponent = parts.count == 2 ? Int(parts[1]) ?? 0 : 0
        if let point = mantissa.firstIndex(of: ".") {
            exponent -= mantissa.distance(from: point, to: mantissa.endIndex) - 1
        }
        let digits = mantissa.filter(\.isNumber).drop { $0 == "0" }
        let sign = mantissa.hasPrefix("-") ? "-" : ""
        return DecimalNumber.nearest(digits.isEmpty ? "0" : "\(sign)\(digits)e\(exponent)")
    }

    /// The bytes of a value that JSON represents by a text. Nil if the text has another form, or if JSON represents
    /// values of this type in another way.
    static func bytes(_ text: String, _ scalar: ScalarType) -> [UInt8]? {
        switch scalar {
        case .data: return Data(base64Encoded: text).map { [UInt8]($0) }
        case .objectId: return octets(text, 12)
        case .uuid:
            let isDashed =
                text.utf8.count == 36 && [8, 13, 18, 23].allSatisfy { Array(text.utf8)[$0] == UInt8(ascii: "-") }
            return isDashed ? octets(text.filter { $0 != "-" }, 16) : nil
        case .decimal128:
            switch text {
            case "NaN": return DecimalNumber.nan.bytes
            case "Infinity": return DecimalNumber.infinity.bytes
            case "-Infinity": return DecimalNumber("-inf")?.bytes
            default: return nil
            }
        default: return nil
        }
    }

    private static func octets(_ text: String, _ count: Int) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard text.utf8.count == 2 * count, digits.count == 2 * count else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

extension JSONValue {
    /// The JSON of a scalar value that is stored as bytes.
    fileprivate init(_ bytes: [UInt8], _ scalar: ScalarType) {
        switch scalar {
        case .uuid: self = .string(JSONScalar.uuid(bytes))
        case .decimal128: self = JSONScalar.decimalJSON(bytes)
        case .data: self = .string(Data(bytes).base64EncodedString())
        default: self = .string(JSONScalar.hexadecimal(bytes))
        }
    }
}

extension JSONScalar {
    static func uuid(_ bytes: [UInt8]) -> String {
        [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { hexadecimal(bytes[$0]) }.joined(separator: "-")
    }

    /// A finite number is a JSON number. NaN and the infinities are texts.
    static func decimalJSON(_ bytes: [UInt8]) -> JSONValue {
        let text = DecimalNumber(bytes: bytes)?.description ?? "NaN"
        switch text {
        case "NaN": return .string("NaN")
        case "inf": return .string("Infinity")
        case "-inf": return .string("-Infinity")
        default: return .number(text)
        }
    }
}
