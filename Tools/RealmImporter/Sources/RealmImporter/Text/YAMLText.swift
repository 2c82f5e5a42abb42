/// Text as YAML holds it.
enum YAMLText {
    private static let words: Set<String> = ["true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"]

    /// A word that needs no quotes, or the text in double quotes.
    static func scalar(_ text: String) -> String {
        let isPlain =
            text.first?.isASCIILetter == true && text.utf8.count <= 60 && !words.contains(text.lowercased())
            && text.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == "_" }
        return isPlain ? text : quoted(text)
    }

    /// A sentence without quotes, where YAML and the schema language read it as it stands.
    static func sentence(_ text: String) -> String {
        let isPlain =
            text.first?.isASCIILetter == true && !words.contains(text.lowercased()) && text.last != " "
            && text.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || " .-_'()".contains($0) }
        return isPlain ? text : quoted(text)
    }

    /// In double quotes, with the escapes that YAML and the literals of a schema share.
    static func quoted(_ text: String) -> String {
        "\"" + text.unicodeScalars.map { escaped($0) { $0.shortEscape } }.joined() + "\""
    }

    /// A literal of the schema language, whose long escapes are Swift's and not YAML's.
    static func literal(_ text: String) -> String {
        let digits = { (scalar: Unicode.Scalar) in "\\u{\(String(scalar.value, radix: 16))}" }
        return "\"" + text.unicodeScalars.map { escaped($0, digits) }.joined() + "\""
    }

    /// A whole value, in single quotes where YAML would read something else in it.
    static func value(_ text: String) -> String {
        let isPlain = !text.contains(": ") && !text.contains(" #") && !text.hasSuffix(":") && text.first != "\""
        return isPlain
            ? text
            : "'"
                + text.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: "''") + "'"
    }

    /// Without the characters that no schema file may hold.
    static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 == "\t" || !$0.isRefused }))
    }

    private static func escaped(_ scalar: Unicode.Scalar, _ long: (Unicode.Scalar) -> String) -> String {
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\t": "\\t"
        case "\r": "\\r"
        case "\0": "\\0"
        default: scalar.isRefused ? long(scalar) : String(scalar)
        }
    }
}

extension Unicode.Scalar {
    /// `\u00e6`, or `\U0001F985` behind the first plane.
    fileprivate var shortEscape: String {
        let digits = String(value, radix: 16)
        let length = value > 0xFFFF ? 8 : 4
        return (length == 8 ? "\\U" : "\\u") + String(repeating: "0", count: length - digits.count) + digits
    }

    /// Control characters, line separators, and those that turn the direction of text.
    fileprivate var isRefused: Bool {
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
