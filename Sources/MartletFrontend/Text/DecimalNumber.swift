/// A decimal number in schema syntax: `-12`, `0.5`, `1_000.25`, `1e-9`.
struct DecimalNumber {
    /// The number without underscores and without a plus sign. An `E` precedes its exponent.
    let text: String
    /// The number of significant digits. Leading and trailing zeros are not counted.
    private let digits: Int
    /// The exponent of the power of ten by which the last significant digit is multiplied.
    private let exponent: Int
    /// The number after the `e`; zero if there is none.
    private let power: Int

    init?(_ source: String) {
        var bytes = source.utf8[...]
        var result = ""
        if let sign = bytes.first, sign == Byte.dash || sign == UInt8(ascii: "+") {
            if sign == Byte.dash { result = "-" }
            bytes = bytes.dropFirst()
        }
        let mantissaEnd = bytes.firstIndex { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") } ?? bytes.endIndex
        let mantissa = bytes[..<mantissaEnd].split(separator: Byte.dot, omittingEmptySubsequences: false)
        guard (1...2).contains(mantissa.count), let whole = WholeNumber.digits(mantissa[0]) else { return nil }
        result += whole
        var all = whole
        var fractionDigits = 0
        if mantissa.count == 2 {
            guard let fraction = WholeNumber.digits(mantissa[1]) else { return nil }
            result += "." + fraction
            all += fraction
            fractionDigits = fraction.utf8.count
        }
        var power = 0
        if mantissaEnd < bytes.endIndex {
            let tail = String(decoding: bytes[mantissaEnd...].dropFirst(), as: UTF8.self)
            guard tail.utf8.count <= 6, let value = Int(tail), tail.utf8.last?.isDigit == true else { return nil }
            power = value
            result += "E\(value)"
        }
        text = result
        self.power = power
        let significant = all.utf8.drop { $0 == UInt8(ascii: "0") }
        let zeros = significant.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        digits = significant.count - zeros
        exponent = power - fractionDigits + zeros
    }

    var isZero: Bool { digits == 0 }

    var hasTooManyDigits: Bool { digits > 34 }

    /// Whether the type decimal128 of IEEE 754 can represent the number: at most 34 digits, and an exponent in range.
    /// `1e6144` fits, because decimal128 stores it as a 1 with 33 trailing zeros and a smaller exponent. The runtime
    /// accepts the same numbers.
    var fitsDecimal128: Bool {
        if isZero { return abs(power) <= 100_000 }
        return !hasTooManyDigits && exponent >= -6176 && exponent + digits - 1 <= 6144
    }
}
