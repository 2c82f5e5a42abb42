/// Decides which characters look like quotes, and which characters are allowed in unquoted words.
enum QuotingRules {
    /// Whether a character is a quote that word processors insert instead of an ASCII quote.
    static func isTypographicQuote(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case "\u{2018}"..."\u{201F}", "\u{AB}", "\u{BB}", "\u{2039}", "\u{203A}", "\u{300C}"..."\u{300F}": true
        default: false
        }
    }

    /// The text between typographic quotes or backticks; nil if the text does not begin and end with such a character.
    static func unquoted(_ text: String) -> String? {
        var inside = text.unicodeScalars[...]
        guard let first = inside.popFirst(), let last = inside.popLast(),
            isTypographicQuote(first) && isTypographicQuote(last) || first == "`" && last == "`"
        else { return nil }
        return String(String.UnicodeScalarView(inside))
    }

    /// Whether a character is allowed in an unquoted word. Letters of all scripts and emoji are allowed, for example.
    static func isWordCharacter(_ character: Unicode.Scalar) -> Bool {
        if let ascii = UInt8(exactly: character.value), ascii < 0x80 {
            return ascii.isNameByte || ascii == Byte.dash || ascii == Byte.dot
        }
        return switch character.properties.generalCategory {
        case .initialPunctuation, .finalPunctuation, .openPunctuation, .closePunctuation, .spaceSeparator,
            .lineSeparator, .paragraphSeparator, .control:
            false
        default: true
        }
    }
}

/// A word that YAML 1.1 reads as a boolean, such as `yes` or `OFF`, in any case. The exact words `true` and `false` are
/// excluded.
struct BooleanWord {
    let value: Bool

    init?(_ text: String) {
        guard text != "true", text != "false" else { return nil }
        switch text.asciiLowercased {
        case "true", "yes", "on", "y": value = true
        case "false", "no", "off", "n": value = false
        default: return nil
        }
    }
}

/// An integer in schema syntax: decimal digits, single underscores between them, and an optional sign.
enum WholeNumber {
    case value(Int64)
    case tooLarge
    /// A number that YAML 1.1 and YAML 1.2 read as different values, such as `0o17` or `0777`. The text is the decimal
    /// value that the author most likely means. `isCertain` is true if no other value is possible.
    case ambiguous(String, isCertain: Bool)
    /// The text is not an integer.
    case none

    init(_ text: String) {
        var bytes = text.utf8[...]
        let isNegative = bytes.first == Byte.dash
        if isNegative || bytes.first == UInt8(ascii: "+") { bytes = bytes.dropFirst() }
        guard let first = bytes.first, first.isDigit else {
            self = .none
            return
        }
        let sign = isNegative ? "-" : ""
        if let other = WholeNumber.legacyNumber(bytes) {
            self = .ambiguous(sign + other.text, isCertain: other.isCertain)
            return
        }
        guard let digits = WholeNumber.digits(bytes) else {
            self = .none
            return
        }
        if let value = Int64(sign + digits) { self = .value(value) } else { self = .tooLarge }
    }

    /// The digits without underscores; nil if the text is not a valid number.
    static func digits(_ bytes: Substring.UTF8View) -> String? {
        var result: [UInt8] = []
        var previous = Byte.underscore
        for byte in bytes {
            guard byte.isDigit || byte == Byte.underscore && previous != Byte.underscore else { return nil }
            if byte.isDigit { result.append(byte) }
            previous = byte
        }
        return previous == Byte.underscore ? nil : String(decoding: result, as: UTF8.self)
    }

    /// The decimal value of a number in a notation of YAML 1.1 or 1.2, such as `0x1F`, `0o17`, `0b11`, `0777` or
    /// `1:30`.
    private static func legacyNumber(_ bytes: Substring.UTF8View) -> (text: String, isCertain: Bool)? {
        let text = String(decoding: bytes, as: UTF8.self).asciiLowercased
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where text.hasPrefix(prefix) {
            let digits = text.dropFirst(2)
            // `Int64.init` also accepts a sign.
            guard digits.first != "-", digits.first != "+" else { return nil }
            return Int64(digits, radix: radix).map { (String($0), true) }
        }
        if bytes.count > 1, bytes.first == UInt8(ascii: "0"), bytes.allSatisfy(\.isDigit) {
            // In YAML 1.1, 0777 is an octal number with the value 511. The author more likely means 777.
            let digits = bytes.drop { $0 == UInt8(ascii: "0") }
            return (digits.isEmpty ? "0" : String(decoding: digits, as: UTF8.self), false)
        }
        let parts = bytes.split(separator: Byte.colon, omittingEmptySubsequences: false)
        guard parts.count > 1, parts.count <= 3 else { return nil }
        var total: Int64 = 0
        for part in parts {
            guard part.count <= 6, part.allSatisfy(\.isDigit), let value = Int64(String(decoding: part, as: UTF8.self))
            else { return nil }
            total = total * 60 + value
        }
        return (String(total), false)
    }
}
