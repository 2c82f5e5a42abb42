/// Values from a schema as Swift literals that mean exactly that value and nothing else.
enum SwiftLiteral {
    /// A string literal of printable ASCII.
    ///
    /// It works on scalars, never on characters: a quote followed by a combining mark is one character, and would pass
    /// for no quote at all.
    static func string(_ text: String) -> String {
        "\"" + escaped(text) + "\""
    }

    /// What stands between the quotes of a string literal.
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

    /// The shortest decimal text that reads back as the same value.
    static func double(_ value: Double) -> String {
        if value.isNaN { return "Swift.Double.nan" }
        if value.isInfinite { return value < 0 ? "-Swift.Double.infinity" : "Swift.Double.infinity" }
        return "\(value)"
    }

    /// The shortest decimal text that reads back as the same `Float`.
    static func float(_ value: Double) -> String {
        "\(Float(value))"
    }

    /// Two digits for each byte.
    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The sixteen bytes of a UUID, for `Foundation.UUID(uuid:)`.
    static func uuid(_ bytes: [UInt8]) -> String {
        let items = bytes.map { byte in
            byte == 0 ? "0" : "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return "Foundation.UUID(uuid: (" + items.joined(separator: ", ") + "))"
    }
}
