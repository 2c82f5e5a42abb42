/// A decimal number as a schema writes it: `-12`, `0.5`, `1_000.25`, `1e-9`.
struct DecimalNumber {
    /// Without underscores.
    let text: String
    private let digits: Int
    private let exponent: Int

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
        digits = all.utf8.drop { $0 == UInt8(ascii: "0") }.count
        exponent = power - fractionDigits
    }

    /// 34 digits, and an exponent that a 128-bit decimal of IEEE 754 can hold.
    var fitsDecimal128: Bool {
        digits <= 34 && exponent >= -6176 && exponent + max(0, digits - 34) <= 6111
    }
}
