import MartletSchema

/// Collects findings about YAML features outside the supported subset. If a kind of feature occurs many times, only its
/// first occurrence becomes a finding. The next three occurrences become notes of that finding, and all others are only
/// counted.
struct SubsetFindings {
    enum Kind: Hashable {
        /// An anchor or an alias.
        case alias
        case tag
    }

    private struct Group {
        let first: Diagnostic
        /// The second, third and fourth occurrences.
        var others: [SourceSpan] = []
        /// The number of all occurrences.
        var count = 1

        var finding: Diagnostic {
            var notes = others.map { DiagnosticNote("another occurrence", at: $0) }
            let rest = count - 1 - notes.count
            if rest > 0 { notes.append(DiagnosticNote("and \(rest) more in this file")) }
            return Diagnostic(
                first.code, first.message, at: first.span, label: first.label, notes: notes, help: first.help,
                fixes: first.fixes)
        }
    }

    private var findings = LimitedFindings()
    private var groups: [Kind: Group] = [:]

    mutating func report(_ message: String, at span: SourceSpan, label: String? = nil, fixes: [Fix] = []) {
        findings.append(Self.finding(message, at: span, label: label, fixes: fixes))
    }

    /// - Parameter place: returns the place of the occurrence. It is called only for the first four occurrences of a
    ///   kind.
    mutating func report(_ kind: Kind, _ message: String, fixes: (SourceSpan) -> [Fix], at place: () -> SourceSpan) {
        guard let count = groups[kind]?.others.count else {
            let span = place()
            groups[kind] = Group(first: Self.finding(message, at: span, label: nil, fixes: fixes(span)))
            return
        }
        groups[kind]?.count += 1
        if count < 3 { groups[kind]?.others.append(place()) }
    }

    func report(into list: inout LimitedFindings) {
        list += findings
        for kind in [Kind.alias, .tag] {
            if let group = groups[kind] { list.append(group.finding) }
        }
    }

    private static func finding(_ message: String, at span: SourceSpan, label: String?, fixes: [Fix]) -> Diagnostic {
        Diagnostic(.yamlSubset, message, at: span, label: label, help: fixes.first?.title, fixes: fixes)
    }
}
