import MartletSchema

/// Parses enums: a list of names, or a mapping with `raw`, `cases` and `unknown`.
extension SchemaParser {
    mutating func parseEnum(_ name: Spanned<String>, _ entry: YAMLEntry) -> EnumSyntax? {
        switch entry.value {
        case .sequence(let sequence):
            let (cases, isIncomplete) = listedCases(sequence)
            if cases.isEmpty, !isIncomplete { reportNoCases(name) }
            return EnumSyntax(
                name: name, documentation: comments.documentation(before: entry.key.span), raw: .string, cases: cases,
                unknown: nil, renamedFrom: nil, deprecation: nil, isIncomplete: isIncomplete)
        case .mapping(let mapping):
            recordRenamedFromEdits(name, in: mapping, isType: true)
            return parseExpandedEnum(name, entry, entries(mapping))
        case .broken: return brokenEnum(name)
        case .scalar(let scalar):
            let place = scalar.isEmpty ? name.span : scalar.span
            report(.wrongShape, "enum '\(name.value)' needs its cases; write '[first, second]'", at: place)
            return brokenEnum(name)
        }
    }

    /// A placeholder for an invalid enum, so that references to it are not reported as missing.
    private func brokenEnum(_ name: Spanned<String>) -> EnumSyntax {
        EnumSyntax(
            name: name, documentation: nil, raw: nil, cases: [], unknown: nil, renamedFrom: nil, deprecation: nil,
            isIncomplete: true)
    }

    private mutating func parseExpandedEnum(
        _ name: Spanned<String>, _ entry: YAMLEntry, _ items: [YAMLEntry]
    ) -> EnumSyntax {
        let keys = keys(items, .enumeration)
        var raw: EnumRawKind? = .string
        if let value = keys.value("raw") { raw = rawKind(value) }
        var cases: [EnumCaseSyntax] = []
        var isIncomplete = false
        switch keys.value("cases") {
        case .sequence(let sequence):
            (cases, isIncomplete) = listedCases(sequence)
            if raw == .int {
                report(
                    .wrongShape, "an enum stored as 'Int' needs a number for each case; write '{ first: 0 }'",
                    at: sequence.span)
                isIncomplete = true
                raw = nil
            }
        case .mapping(let mapping):
            for item in entries(mapping) {
                guard let caseName = self.name(item.key, of: "case") else {
                    isIncomplete = true
                    continue
                }
                let value = rawScalar(item.value, of: caseName)
                isIncomplete = isIncomplete || value == nil
                cases.append(
                    EnumCaseSyntax(
                        name: caseName, documentation: comments.documentation(before: item.key.span), rawValue: value))
            }
        case .scalar(let scalar):
            report(.wrongShape, "'cases' holds a list or a mapping, not text; write '[first, second]'", at: scalar.span)
            isIncomplete = true
        case .broken: isIncomplete = true
        case nil: break
        }
        if cases.isEmpty, !isIncomplete { reportNoCases(name) }
        let unknown = keys.value("unknown").flatMap { self.name($0, of: "case", as: "'unknown'") }
        return EnumSyntax(
            name: name, documentation: documentation(entry, keys), raw: raw, cases: cases, unknown: unknown,
            renamedFrom: renamedFrom(keys), deprecation: deprecation(keys), isIncomplete: isIncomplete)
    }

    private mutating func rawKind(_ node: YAMLNode) -> EnumRawKind? {
        guard let scalar = text(node, of: "'raw'") else { return nil }
        if let kind = EnumRawKind(rawValue: scalar.text) { return kind }
        let folded = scalar.text.asciiLowercased
        let isCertain = ["int", "integer", "str", "string", "text"].contains(folded)
        let type = folded.hasPrefix("int") ? "Int" : folded.hasPrefix("str") || folded == "text" ? "String" : nil
        report(
            .unknownType, "an enum is stored as 'Int' or 'String', not '\(scalar.text.shortened)'", at: scalar.span,
            help: type.map { "did you mean '\($0)'?" },
            fixes: type.map { [Fix("write '\($0)'", isCertain ? .safe : .suggested, [Edit(scalar.span, $0)])] } ?? [])
        return nil
    }

    private mutating func listedCases(_ sequence: YAMLSequence) -> (cases: [EnumCaseSyntax], isIncomplete: Bool) {
        var cases: [EnumCaseSyntax] = []
        var isIncomplete = false
        for item in sequence.items {
            guard let name = name(item, of: "case", as: "a case") else {
                isIncomplete = true
                continue
            }
            cases.append(
                EnumCaseSyntax(
                    name: name, documentation: comments.documentation(before: name.span), rawValue: nil))
        }
        return (cases, isIncomplete)
    }

    private mutating func rawScalar(_ node: YAMLNode, of name: Spanned<String>) -> YAMLScalar? {
        switch node {
        case .scalar(let scalar) where !scalar.isEmpty: return scalar
        case .broken: return nil
        case .scalar:
            report(.wrongShape, "case '\(name.value)' has no stored value; write one after the ':'", at: name.span)
        case .sequence, .mapping:
            report(.wrongShape, "the stored value of a case is text or a number, not \(node.shape)", at: node.span)
        }
        return nil
    }

    private mutating func reportNoCases(_ name: Spanned<String>) {
        report(.wrongShape, "enum '\(name.value)' has no cases; write at least one", at: name.span)
    }
}
