/// Escapes text of a schema for XML and HTML.
enum Markup {
    /// Escapes a text for element content and quoted attributes. Control characters other than tabs and line breaks,
    /// bidirectional controls, and other characters that XML does not allow become replacement characters. A carriage
    /// return becomes a line feed.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(plain(scalar))
            }
        }
        return result
    }

    /// Escapes a text for a place that does not allow line breaks.
    static func escapedLine(_ text: String) -> String { escaped(line(text)) }

    /// The text on one line. Line breaks and tabs become spaces, and other control characters become replacement
    /// characters.
    static func line(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n", "\r", "\t", "\u{0B}", "\u{0C}", "\u{85}", "\u{2028}", "\u{2029}":
                if result.last != " " { result.append(" ") }
            default: result.append(plain(scalar))
            }
        }
        return String(result)
    }

    private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar {
        case "\n", "\t": scalar
        case "\r": "\n"
        case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
            "\u{FFFD}"
        default: scalar
        }
    }
}
