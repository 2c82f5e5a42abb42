/// Converts between the binary format of `numeric` and decimal text.
///
/// A number consists of digits of base 10,000. The binary format contains the count of these digits, the exponent of
/// the first digit (the weight), a sign, the number of decimal digits after the point (the scale), and the digits.
enum NumericFormat {
    private static let negative: UInt16 = 0x4000
    private static let notANumber: UInt16 = 0xC000
    private static let infinity: UInt16 = 0xD000
    private static let negativeInfinity: UInt16 = 0xF000
    // PostgreSQL's limits for the scale and the weight.
    private static let greatestScale = 16_383
    private static let greatestWeight = 32_767

    /// Returns the text of a number, such as `-123e-2`: a minus sign if the number is negative, digits, and an exponent
    /// if the exponent is not zero. The text of zero is `0`. For values that are not finite, the text is `NaN`, `inf`
    /// or `-inf`.
    static func decode(_ bytes: UnsafeRawBufferPointer) throws(PostgresError) -> String {
        func word(_ index: Int) -> UInt16 {
            UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
        }
        guard bytes.count >= 8, bytes.count == 8 + 2 * Int(word(0)) else { throw .malformed("a number") }
        let (count, weight, sign) = (Int(word(0)), Int(Int16(bitPattern: word(1))), word(2))
        switch sign {
        case notANumber: return "NaN"
        case infinity: return "inf"
        case negativeInfinity: return "-inf"
        case 0, negative: break
        default: throw .malformed("a number")
        }
        var digits: [UInt8] = []
        digits.reserveCapacity(count * 4)
        for index in 0..<count {
            let group = word(4 + index)
            guard group < 10_000 else { throw .malformed("a number") }
            digits += [1_000, 100, 10, 1].map { UInt8(ascii: "0") + UInt8(group / $0 % 10) }
        }
        return text(isNegative: sign == negative, digits, exponent: 4 * (weight - count + 1))
    }

    private static func text(isNegative: Bool, _ digits: [UInt8], exponent: Int) -> String {
        var significant = digits.drop { $0 == UInt8(ascii: "0") }
        var power = exponent
        while significant.last == UInt8(ascii: "0") { (_, power) = (significant.removeLast(), power + 1) }
        if significant.isEmpty { return "0" }
        return (isNegative ? "-" : "") + String(decoding: significant, as: UTF8.self) + (power == 0 ? "" : "e\(power)")
    }

    /// - Parameter text: digits with an optional sign, point and exponent, or `NaN`, `inf`, `infinity`, `-inf` or
    ///   `-infinity`.
    static func encode(_ text: String) throws(UnencodableValue) -> [UInt8] {
        switch text.lowercased() {
        case "nan": return header(0, 0, notANumber, 0)
        case "inf", "infinity": return header(0, 0, infinity, 0)
        case "-inf", "-infinity": return header(0, 0, negativeInfinity, 0)
        default: break
        }
        guard let parsed = parse(text) else { throw UnencodableValue("a text is not a decimal number") }
        let digits = parsed.digits.drop { $0 == 0 }
        guard !digits.isEmpty else { return header(0, 0, 0, 0) }
        // Each group of 4 decimal digits is one digit of base 10,000. Zeros at the end make the exponent a multiple of
        // 4. Zeros at the beginning fill the first group.
        let padding = ((parsed.exponent % 4) + 4) % 4
        var filled = Array(digits) + [UInt8](repeating: 0, count: padding)
        filled = [UInt8](repeating: 0, count: (4 - filled.count % 4) % 4) + filled
        var groups = stride(from: 0, to: filled.count, by: 4).map { start in
            filled[start..<start + 4].reduce(UInt16(0)) { $0 * 10 + UInt16($1) }
        }
        let weight = (parsed.exponent - padding) / 4 + groups.count - 1
        // PostgreSQL also omits groups of zeros at the end. So these bytes equal the bytes that PostgreSQL would send.
        while groups.last == 0 { groups.removeLast() }
        let scale = max(0, -parsed.exponent)
        guard scale <= greatestScale, -greatestWeight...greatestWeight ~= weight else {
            throw UnencodableValue("a decimal number is out of range")
        }
        return header(groups.count, weight, parsed.isNegative ? negative : 0, scale)
            + groups.flatMap { PostgresType.bigEndian($0) }
    }

    private static func header(_ count: Int, _ weight: Int, _ sign: UInt16, _ scale: Int) -> [UInt8] {
        [UInt16(count), UInt16(bitPattern: Int16(weight)), sign, UInt16(scale)].flatMap { PostgresType.bigEndian($0) }
    }

    private static func parse(_ text: String) -> (isNegative: Bool, digits: [UInt8], exponent: Int)? {
        var rest = Substring(text)
        let isNegative = rest.hasPrefix("-")
        if isNegative || rest.hasPrefix("+") { rest = rest.dropFirst() }
        let parts = rest.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        let halves = parts[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let power = parts.count == 2 ? Int(parts[1]) : 0, -200_000...200_000 ~= power else { return nil }
        let digits = halves.joined().utf8.map { $0 &- UInt8(ascii: "0") }
        guard !digits.isEmpty, digits.allSatisfy({ $0 <= 9 }) else { return nil }
        return (isNegative, digits, power - (halves.count == 2 ? halves[1].utf8.count : 0))
    }
}
