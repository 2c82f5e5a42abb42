/// Writes values from a schema as Swift literals that evaluate to exactly these values.
enum SwiftLiteral {
    /// A string literal of printable ASCII.
    ///
    /// The text is processed as scalars, because a quote and a following combining mark form one character, which does
    /// not equal a quote.
    static func string(_ text: String) -> String {
        "\"" + escaped(text) + "\""
    }

    /// The contents of a string literal, without its quotes.
    static func escaped(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        if isPlain { return text }
        var literal = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case " "..."~": literal.unicodeScalars.append(scalar)
            default: literal += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            }
        }
        return literal
    }

    /// The shortest decimal literal that evaluates to the same value. NaN and infinity are written as the constants of
    /// `Swift.Double`.
    static func double(_ value: Double) -> String {
        if value.isNaN { return "Swift.Double.nan" }
        if value.isInfinite { return value < 0 ? "-Swift.Double.infinity" : "Swift.Double.infinity" }
        return "\(value)"
    }

    /// The shortest decimal literal that evaluates to the `Float` nearest to the value.
    static func float(_ value: Double) -> String {
        "\(Float(value))"
    }

    /// Two hexadecimal digits for each byte.
    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The expression `Foundation.UUID(uuid: (…))`, in which the parentheses contain the sixteen bytes.
    static func uuid(_ bytes: [UInt8]) -> String {
        let items = bytes.map { byte in
            byte == 0 ? "0" : "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return "Foundation.UUID(uuid: (" + items.joined(separator: ", ") + "))"
    }
}
