/// Text of a schema on its way into XML and HTML.
enum Markup {
    /// Means the same in text and in quoted attributes, and nothing in it is markup. What XML cannot hold, and characters
    /// that turn the direction of text, become replacement characters.
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

    /// The same for a place where a line break would end something.
    static func escapedLine(_ text: String) -> String { escaped(line(text)) }

    /// In one line, without control characters.
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
