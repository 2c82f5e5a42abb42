import MartletSQLite
package import MartletValues

/// A decimal number of up to 34 significant digits: sign, coefficient and exponent of ten, without trailing zeros. It
/// is stored as bytes that sort in numeric order.
package struct DecimalNumber: Hashable, Sendable {
    private enum Kind: UInt8 {
        case negativeInfinity = 1
        case finite = 2
        case infinity = 3
        case notANumber = 4
    }

    private let kind: Kind
    private let isNegative: Bool
    /// At most 34 digits. Zero for the number zero, the infinities and NaN.
    private let coefficient: UInt128
    private let exponent: Int

    static let maximumDigits = 34
    // The range of the decimal128 format of IEEE 754.
    private static let smallestExponent = -6_176
    private static let largestPower = 6_144

    // The least and the greatest coefficient that have 34 digits.
    private static let leastScaled: UInt128 = 1_000_000_000_000_000_000_000_000_000_000_000
    private static let greatestScaled: UInt128 = 9_999_999_999_999_999_999_999_999_999_999_999

    /// The number 0.
    package static let zero = DecimalNumber(isNegative: false, coefficient: 0, exponent: 0)
    /// Not a number. Unlike a floating-point NaN, it equals itself and is greater than all numbers.
    package static let nan = DecimalNumber(kind: .notANumber)
    /// Greater than all finite numbers.
    package static let infinity = DecimalNumber(kind: .infinity)
    /// Less than all finite numbers.
    static let negativeInfinity = DecimalNumber(kind: .negativeInfinity)

    private init(kind: Kind) {
        self.kind = kind
        isNegative = kind == .negativeInfinity
        coefficient = 0
        exponent = 0
    }

    private init(isNegative: Bool, coefficient: UInt128, exponent: Int) {
        var (digits, power) = (coefficient, exponent)
        while digits != 0 && digits % 10 == 0 { (digits, power) = (digits / 10, power + 1) }
        kind = .finite
        self.isNegative = isNegative && digits != 0
        self.coefficient = digits
        self.exponent = digits == 0 ? 0 : power
    }

    /// A whole number.
    package init(_ value: Int) {
        self.init(isNegative: value < 0, coefficient: UInt128(value.magnitude), exponent: 0)
    }

    /// Parses digits with an optional sign, point and exponent, or `NaN` or `inf`. Nil if the text is not a number, has
    /// more than 34 significant digits, or is outside the range of decimal128.
    package init?(_ text: String) {
        guard let value = DecimalNumber.parse(text) else { return nil }
        self = value
    }

    /// The decimal number of an SQL value. A floating-point number that equals an `Int64` becomes exactly this integer.
    /// Any other floating-point number becomes its shortest decimal representation. Nil for a floating-point NaN, null
    /// and texts, and for bytes that encode no decimal.
    package init?(_ value: SQLValue) {
        switch value {
        case .integer(let number): self.init(Int(number))
        case .real(let number) where !number.isNaN:
            if let whole = Int64(exactly: number) { self.init(Int(whole)) } else { self.init("\(number)") }
        case .blob(let bytes): self.init(bytes: bytes)
        default: return nil
        }
    }

    /// Rounds a number with any count of digits to the nearest number of this type. A tie is rounded to an even last
    /// digit.
    ///
    /// - Parameter hasRest: true if nonzero digits follow the given digits.
    static func rounding(isNegative: Bool, _ digits: [UInt8], _ exponent: Int, hasRest: Bool) -> DecimalNumber {
        // Digits are lost after the 34th digit, and below the smallest exponent.
        let cut = max(digits.count - maximumDigits, smallestExponent - exponent, 0)
        let kept = digits.dropLast(cut)
        var coefficient = kept.reduce(UInt128(0)) { $0 * 10 + UInt128($1) }
        let lost = [UInt8](repeating: 0, count: max(0, cut - digits.count)) + digits.suffix(min(cut, digits.count))
        let isMore = hasRest || lost.dropFirst().contains { $0 != 0 }
        if let first = lost.first, first > 5 || (first == 5 && (isMore || coefficient % 2 == 1)) { coefficient += 1 }
        let number = DecimalNumber(isNegative: isNegative, coefficient: coefficient, exponent: exponent + cut)
        guard coefficient != 0, String(number.coefficient).count + number.exponent - 1 > largestPower else {
            return number
        }
        return isNegative ? .negativeInfinity : .infinity
    }

    /// The sign, the coefficient and the exponent of ten. Nil for numbers that are not finite.
    var parts: (isNegative: Bool, coefficient: UInt128, exponent: Int)? {
        kind == .finite ? (isNegative, coefficient, exponent) : nil
    }

    package var isNaN: Bool { kind == .notANumber }

    /// The stored bytes of NaN, as an SQL literal.
    static let nanLiteral = "x'ff'"

    private static func parse(_ text: String) -> DecimalNumber? {
        switch text.lowercased() {
        case "nan": return .nan
        case "inf", "infinity": return .infinity
        case "-inf", "-infinity": return DecimalNumber(kind: .negativeInfinity)
        default: break
        }
        var rest = Substring(text)
        let isNegative = rest.hasPrefix("-")
        if isNegative || rest.hasPrefix("+") { rest = rest.dropFirst() }
        let parts = rest.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        guard let power = parts.count == 2 ? Int(parts[1]) : 0, -100_000...100_000 ~= power else { return nil }
        let halves = parts[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let digits = halves.joined()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        let significant = digits.drop { $0 == "0" }
        var trimmed = significant
        while trimmed.hasSuffix("0") { trimmed = trimmed.dropLast() }
        guard trimmed.count <= maximumDigits, let coefficient = UInt128(trimmed.isEmpty ? "0" : String(trimmed)) else {
            return nil
        }
        let fraction = halves.count == 2 ? halves[1].count : 0
        let exponent = power - fraction + (significant.count - trimmed.count)
        guard
            coefficient == 0
                || (smallestExponent...largestPower ~= exponent && exponent + trimmed.count - 1 <= largestPower)
        else { return nil }
        return DecimalNumber(isNegative: isNegative, coefficient: coefficient, exponent: exponent)
    }

    /// Digits with a decimal point, or with an exponent for very large and very small numbers.
    package var description: String {
        switch kind {
        case .notANumber: return "NaN"
        case .infinity: return "inf"
        case .negativeInfinity: return "-inf"
        case .finite: break
        }
        let digits = String(coefficient)
        let sign = isNegative ? "-" : ""
        if exponent >= 0 && exponent + digits.count <= Self.maximumDigits {
            return sign + digits + String(repeating: "0", count: coefficient == 0 ? 0 : exponent)
        }
        if exponent < 0 && exponent > -40 {
            let padded = String(repeating: "0", count: max(0, 1 - exponent - digits.count)) + digits
            return sign + padded.dropLast(-exponent) + "." + padded.suffix(-exponent)
        }
        return "\(sign)\(digits)e\(exponent)"
    }

    // One byte for kind and sign, two bytes for the exponent of the first digit, and 16 bytes for 34 digits as a binary
    // number. Zero, the infinities and NaN have only the first byte. For negative numbers, all bytes after the first
    // byte are inverted. The order of the bytes is the numeric order.
    package var bytes: [UInt8] {
        guard kind == .finite else { return [kind.rawValue &* 64 &- 1] }
        guard coefficient != 0 else { return [128] }
        let digits = String(coefficient)
        let magnitude = UInt16(exponent + digits.count + 16_384)
        let scaled = (0..<(Self.maximumDigits - digits.count)).reduce(coefficient) { value, _ in value * 10 }
        var content = [UInt8(magnitude >> 8), UInt8(magnitude & 255)]
        content += (0..<16).map { UInt8(truncatingIfNeeded: scaled >> UInt128(120 - 8 * $0)) }
        return isNegative ? [127] + content.map { ~$0 } : [129] + content
    }

    /// The number that `bytes` encodes. Nil for bytes that only a damaged file contains.
    package init?(bytes: [UInt8]) {
        switch (bytes.first, bytes.count) {
        // Earlier versions stored the default value zero of a new column as an empty blob.
        case (nil, _): self = .zero
        case (63, 1): self = DecimalNumber(kind: .negativeInfinity)
        case (128, 1): self = .zero
        case (191, 1): self = .infinity
        case (255, 1): self = .nan
        case (127, 19), (129, 19):
            let isNegative = bytes[0] == 127
            let content = bytes.dropFirst().map { isNegative ? ~$0 : $0 }
            let magnitude = Int(content[0]) << 8 | Int(content[1])
            let scaled = content[2...].reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
            // The first of the 34 digits is not zero.
            guard Self.leastScaled...Self.greatestScaled ~= scaled else { return nil }
            self.init(isNegative: isNegative, coefficient: scaled, exponent: magnitude - 16_384 - Self.maximumDigits)
            let power = magnitude - 16_384 - 1
            guard exponent >= Self.smallestExponent, power <= Self.largestPower else { return nil }
        default: return nil
        }
    }
}

extension DecimalNumber {
    /// The number of this type that is nearest to a number with any count of digits.
    ///
    /// - Parameter text: `NaN`, `inf`, `-inf`, or an optional sign, digits, and an optional exponent.
    package static func nearest(_ text: String) -> DecimalNumber {
        if let exact = DecimalNumber(text) { return exact }
        let isNegative = text.hasPrefix("-")
        let parts = text.drop { $0 == "-" }.split(separator: "e")
        let digits = (parts.first ?? "").utf8.map { $0 &- UInt8(ascii: "0") }
        let exponent = parts.count == 2 ? Int(parts[1]) ?? 0 : 0
        return rounding(isNegative: isNegative, digits, exponent, hasRest: false)
    }
}
