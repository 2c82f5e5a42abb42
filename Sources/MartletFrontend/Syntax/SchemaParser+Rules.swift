import MartletSchema

/// Parses the keys that control synchronization: the modes of `sync`, and the rules.
extension SchemaParser {
    mutating func syncMode(_ keys: KeyReader) -> Spanned<SyncMode>? {
        choice("sync", keys, among: SyncMode.allCases, "'none', 'both' or 'upload'")
    }

    mutating func rules(_ keys: KeyReader) -> [RuleKind: ParsedRule] {
        var rules: [RuleKind: ParsedRule] = [:]
        for kind in RuleKind.allCases { rules[kind] = rule(kind.rawValue, keys) }
        return rules
    }

    mutating func rule(_ key: String, _ keys: KeyReader) -> ParsedRule? {
        guard let entry = keys[key] else { return nil }
        if case .scalar(let scalar) = entry.value, scalar.isEmpty {
            report(
                .badRule, "'\(key)' has no condition; write one such as 'owner.id == $user.sub', or remove the key",
                at: entry.key.span)
            return nil
        }
        guard let scalar = text(entry.value, of: "'\(key)'") else { return nil }
        let offsets = ScalarOffsets(scalar, in: source.bytes)
        do throws(RuleSyntaxError) {
            return ParsedRule(syntax: try RuleParser.parse(scalar.text, offsets), span: scalar.span)
        } catch {
            report(.badRule, error.message, at: offsets.span(of: error.range))
            return nil
        }
    }
}
