import MartletSchema

/// The entries of one YAML mapping by key. Keys that this kind of mapping does not have are reported.
struct KeyReader {
    private var entries: [String: YAMLEntry] = [:]
    private(set) var diagnostics: [Diagnostic] = []

    init(_ items: [YAMLEntry], kind: MappingKind, suggestions: inout Suggestions) {
        var unknown: [YAMLEntry] = []
        for entry in items {
            if kind.keys.contains(entry.key.text) {
                entries[entry.key.text] = entry
            } else {
                unknown.append(entry)
            }
        }
        for entry in unknown {
            // Parsing continues with the suggested key.
            if let meant = report(entry, kind: kind, suggestions: &suggestions) { entries[meant] = entry }
        }
    }

    subscript(key: String) -> YAMLEntry? { entries[key] }

    /// The entries with known keys, in source order. A misspelled key is replaced by the suggested key.
    func keys(of items: [YAMLEntry]) -> [(key: String, entry: YAMLEntry)] {
        let byPlace = Dictionary(entries.map { ($0.value.key.span, $0.key) }) { first, _ in first }
        return items.compactMap { item in byPlace[item.key.span].map { ($0, item) } }
    }

    /// The value of a key; nil if the key is missing or has no value.
    func value(_ key: String) -> YAMLNode? {
        guard let value = entries[key]?.value else { return nil }
        if case .scalar(let scalar) = value, scalar.isEmpty { return nil }
        return value
    }

    /// - Returns: the suggested key; nil if there is not exactly one suggestion.
    private mutating func report(_ entry: YAMLEntry, kind: MappingKind, suggestions: inout Suggestions) -> String? {
        let key = entry.key
        let folded = MappingKind.folded(key.text)
        let free = kind.keys.filter { entries[$0] == nil }
        var names: [String] = []
        var help: String?
        if let advice = kind.advice[folded] {
            help = advice
        } else if let corrected = kind.synonyms[folded], free.contains(corrected) {
            names = [corrected]
        } else {
            names = suggestions.nearest(to: key.text, among: free)
        }
        help = help ?? Suggestions.question(names)
        let isSpellingVariant = names.count == 1 && MappingKind.isSpellingVariant(key.text, of: names[0])
        let advice = kind.advice[folded].map { "; \($0)" } ?? ""
        diagnostics.append(
            Diagnostic(
                .unknownKey, "unknown key '\(key.text.shortened)' in \(kind.name)\(advice)", at: key.span,
                label: "not a key of \(kind.name)",
                notes: help == nil
                    ? [DiagnosticNote("the keys here are \(kind.keys.map { "'\($0)'" }.joined(separator: ", "))")]
                    : [],
                help: help,
                fixes: names.map { Fix("write '\($0)'", isSpellingVariant ? .safe : .suggested, [Edit(key.span, $0)]) })
        )
        return names.count == 1 ? names[0] : nil
    }
}
