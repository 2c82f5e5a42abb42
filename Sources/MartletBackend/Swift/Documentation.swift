/// Writes documentation from a schema as Swift comment lines.
enum Documentation {
    /// One `///` line for each line of the text, without empty lines at the beginning and the end.
    ///
    /// The text is processed as Unicode scalars, because a carriage return and a line feed form one `Character`. No
    /// text can close the comment early, because a line comment ends only at the end of its line.
    static func lines(_ text: String) -> [String] {
        var lines: [String] = []
        var current = String.UnicodeScalarView()
        var previousWasReturn = false
        for scalar in text.unicodeScalars {
            if isLineEnd(scalar) {
                if !(scalar == "\n" && previousWasReturn) {
                    lines.append(comment(current))
                    current = String.UnicodeScalarView()
                }
            } else if isHarmless(scalar) {
                current.append(scalar)
            }
            previousWasReturn = scalar == "\r"
        }
        lines.append(comment(current))
        return trimmed(lines)
    }

    private static func comment(_ scalars: String.UnicodeScalarView) -> String {
        var kept = scalars
        while let last = kept.last, last == " " || last == "\t" { kept.removeLast() }
        return kept.isEmpty ? "///" : "/// " + String(kept)
    }

    private static func trimmed(_ lines: [String]) -> [String] {
        var kept = lines[...]
        while kept.first == "///" { kept.removeFirst() }
        while kept.last == "///" { kept.removeLast() }
        return Array(kept)
    }

    /// Whether Swift or an editor treats the scalar as the end of a line.
    private static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Whether a comment can contain the scalar. Bidirectional marks, byte order marks, and control characters other
    /// than the tab are removed. They can make an editor show code that differs from the code that is compiled.
    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09: true
        case 0x00...0x1F, 0x7F...0x9F: false
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: false
        default: true
        }
    }
}
