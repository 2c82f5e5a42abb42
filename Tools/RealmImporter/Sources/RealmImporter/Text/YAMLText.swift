/// Escapes text for YAML.
enum YAMLText {
    /// Words that YAML reads as values of other types.
    private static let reserved: Set<String> = [
        "true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf",
    ]

    /// Returns a word without quotes if YAML reads it as text, otherwise in double quotes.
    static func scalar(_ text: String) -> String {
        let isPlain =
            text.first?.isASCIILetter == true && text.utf8.count <= 60 && !reserved.contains(text.lowercased())
            && text.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == "_" }
        return isPlain ? text : quoted(text)
    }

    /// Returns a sentence without quotes if YAML and the schema language read it unchanged, otherwise in double quotes.
    static func sentence(_ text: String) -> String {
        let isPlain =
            text.first?.isASCIILetter == true && !reserved.contains(text.lowercased()) && text.last != " "
            && text.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || " .-_'()".contains($0) }
        return isPlain ? text : quoted(text)
    }

    /// Returns the text in double quotes, with the escapes of YAML.
    static func quoted(_ text: String) -> String {
        "\"" + text.unicodeScalars.map { escaped($0) { $0.yamlEscape } }.joined() + "\""
    }

    /// Returns a string literal of the schema language. Its escapes of Unicode scalars are those of Swift, not of YAML.
    static func literal(_ text: String) -> String {
        let digits = { (scalar: Unicode.Scalar) in "\\u{\(String(scalar.value, radix: 16))}" }
        return "\"" + text.unicodeScalars.map { escaped($0, digits) }.joined() + "\""
    }

    /// Returns the text of a YAML value, in single quotes if YAML would give some of its characters a special meaning.
    static func value(_ text: String) -> String {
        let isPlain = !text.contains(": ") && !text.contains(" #") && !text.hasSuffix(":") && text.first != "\""
        return isPlain
            ? text
            : "'"
                + text.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: "''") + "'"
    }

    /// Removes the characters that are not allowed in schema files.
    static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 == "\t" || !$0.isForbidden }))
    }

    private static func escaped(_ scalar: Unicode.Scalar, _ long: (Unicode.Scalar) -> String) -> String {
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\t": "\\t"
        case "\r": "\\r"
        case "\0": "\\0"
        default: scalar.isForbidden ? long(scalar) : String(scalar)
        }
    }
}

extension Unicode.Scalar {
    /// The escape of YAML: `\u00e6`, or `\U0001F985` for scalars above U+FFFF.
    fileprivate var yamlEscape: String {
        let digits = String(value, radix: 16)
        let length = value > 0xFFFF ? 8 : 4
        return (length == 8 ? "\\U" : "\\u") + String(repeating: "0", count: length - digits.count) + digits
    }

    /// Control characters, line separators, and characters that change the direction of text.
    fileprivate var isForbidden: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0xFFFE, 0xFFFF:
            true
        default: false
        }
    }
}

extension Character {
    var isASCIILetter: Bool { isASCII && isLetter }
    var isASCIIDigit: Bool { isASCII && isNumber }
}
