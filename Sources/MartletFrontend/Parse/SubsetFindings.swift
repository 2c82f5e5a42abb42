import MartletSchema

/// Collects what lies outside the YAML subset; of a kind that comes in hundreds only the first becomes a finding.
struct SubsetFindings {
    enum Kind: Hashable {
        case alias
        case tag
    }

    private struct Group {
        let position: Int
        var others: [SourceSpan] = []
        var count = 1
    }

    private var findings: [Diagnostic] = []
    private var groups: [Kind: Group] = [:]

    mutating func report(_ message: String, at span: SourceSpan, label: String? = nil, fixes: [Fix] = []) {
        findings.append(
            Diagnostic(.yamlSubset, message, at: span, label: label, help: fixes.first?.title, fixes: fixes))
    }

    mutating func report(_ kind: Kind, _ message: String, at span: SourceSpan, fixes: [Fix] = []) {
        if groups[kind] == nil {
            groups[kind] = Group(position: findings.count)
            report(message, at: span, fixes: fixes)
        } else {
            groups[kind]?.count += 1
            if let others = groups[kind]?.others, others.count < 3 { groups[kind]?.others.append(span) }
        }
    }

    var diagnostics: [Diagnostic] {
        var result = findings
        for group in groups.values where group.count > 1 {
            let finding = result[group.position]
            var notes = group.others.map { DiagnosticNote("another one", at: $0) }
            let rest = group.count - 1 - notes.count
            if rest > 0 { notes.append(DiagnosticNote("and \(rest) more in this file")) }
            result[group.position] = Diagnostic(
                finding.code, finding.message, at: finding.span, label: finding.label, notes: notes,
                help: finding.help, fixes: finding.fixes)
        }
        return result
    }
}
