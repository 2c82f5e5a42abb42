/// Estimates the width of text in a common sans-serif font, so that the text fits into its box in any renderer. The
/// widths are taken from Helvetica, Arial and Liberation Sans, which share their metrics.
enum TextMeasure {
    /// The width in pixels, rounded up. It includes a margin for fonts that are wider.
    static func width(_ text: String, size: Int, isBold: Bool = false) -> Int {
        let thousandths = text.unicodeScalars.reduce(0) { $0 + width(of: $1) }
        // The margin is 4 percent. Bold letters are about 8 percent wider.
        let scaled = thousandths * size * (isBold ? 112 : 104) / 100
        return (scaled + 999) / 1000
    }

    /// The text truncated with an ellipsis to at most `limit` pixels.
    static func shortened(_ text: String, size: Int, to limit: Int) -> String {
        guard width(text, size: size) > limit else { return text }
        var result = ""
        for character in text {
            if width(result + String(character) + "…", size: size) > limit { break }
            result.append(character)
        }
        return result + "…"
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        if let index = Int(exactly: scalar.value), (32..<127).contains(index) { return ascii[index - 32] }
        // Latin, Greek and Cyrillic letters are rarely wider than 0.72 of the font size. Some characters of other
        // scripts have the full width of the font size.
        return scalar.value < 0x0530 || scalar == "…" ? 720 : 1000
    }

    /// The widths from the space to the tilde, in thousandths of the font size.
    private static let ascii = [
        278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
        556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
        1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
        667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
        333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
        556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
    ]
}
