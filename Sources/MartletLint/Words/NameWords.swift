/// Splits names into words, for the lint rules that check names.
enum NameWords {
    /// The words of `homeCity`, `HTTPServer` or `snake_case`, in lower case.
    static func split(_ name: String) -> [String] {
        var words: [[UInt8]] = [[]]
        let bytes = Array(name.utf8)
        for (index, byte) in bytes.enumerated() {
            let isUpper = (0x41...0x5A).contains(byte)
            let isWordByte = isUpper || (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte >= 0x80
            guard isWordByte else {
                words.append([])
                continue
            }
            let previousIsLower = index > 0 && (0x61...0x7A).contains(bytes[index - 1])
            let nextIsLower =
                index + 1 < bytes.count && (0x61...0x7A).contains(bytes[index + 1])
                && !isPluralOfAcronym(bytes, at: index + 1)
            if isUpper, previousIsLower || nextIsLower, words.last?.isEmpty == false { words.append([]) }
            words[words.count - 1].append(isUpper ? byte + 0x20 : byte)
        }
        return words.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the byte is a plural `s` after an acronym, as in `URLs`. The uppercase letter before such an `s` belongs
    /// to the acronym, and does not start a word.
    private static func isPluralOfAcronym(_ bytes: [UInt8], at index: Int) -> Bool {
        guard bytes[index] == UInt8(ascii: "s"), index >= 2, (0x41...0x5A).contains(bytes[index - 2]) else {
            return false
        }
        return index + 1 == bytes.count || !(0x61...0x7A).contains(bytes[index + 1])
    }

    static func upperCamel(_ name: String) -> String {
        split(name).map(capitalized).joined()
    }

    static func lowerCamel(_ name: String) -> String {
        let words = split(name)
        return (words.first ?? "") + words.dropFirst().map(capitalized).joined()
    }

    private static func capitalized(_ word: String) -> String {
        guard let first = word.utf8.first, (0x61...0x7A).contains(first) else { return word }
        return String(decoding: [first - 0x20] + word.utf8.dropFirst(), as: UTF8.self)
    }

    private static let plurals: Set<String> = [
        "people", "children", "men", "women", "mice", "feet", "teeth", "geese", "data", "media", "criteria",
        "indices", "vertices", "phenomena", "alumni",
    ]
    /// Words that are not countable, have no separate plural, or only look like a plural.
    private static let neutral: Set<String> = [
        "series", "species", "news", "fish", "sheep", "deer", "aircraft", "staff", "history", "info", "information",
        "equipment", "metadata", "content", "means", "gps", "ios", "os", "dns", "sms", "css", "https", "weather",
    ]

    /// Whether a name is plural; nil if its last word does not show this.
    static func isPlural(_ name: String) -> Bool? {
        guard let last = split(name).last, last.utf8.count > 2, !neutral.contains(last) else { return nil }
        if plurals.contains(last) { return true }
        guard last.hasSuffix("s") else { return false }
        let singularEndings = ["ss", "us", "is", "as", "os", "ics", "lens", "canvas"]
        return singularEndings.contains { last.hasSuffix($0) } ? nil : true
    }
}
