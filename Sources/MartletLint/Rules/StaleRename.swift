import MartletSchema

/// A rename from a name that is still there, or that two things claim, cannot be carried out.
struct StaleRename: LintRule {
    let code = DiagnosticCode.staleRename
    let purpose = "A 'renamedFrom' names something that is gone."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        let types = schema.objects.map { ($0.name, $0.nameSpan, $0.renamedFrom) }
        return check(types)
            + schema.objects.flatMap { object in
                check(object.properties.map { ($0.name, $0.nameSpan, $0.renamedFrom) })
            }
    }

    private func check(_ things: [(name: String, span: SourceSpan, from: Spanned<String>?)]) -> [Diagnostic] {
        let present = Dictionary(things.map { ($0.name, $0.span) }) { first, _ in first }
        var claimed: [String: SourceSpan] = [:]
        var findings: [Diagnostic] = []
        for thing in things {
            guard let from = thing.from else { continue }
            if from.value == thing.name {
                findings.append(
                    Diagnostic(code, "'\(thing.name)' is renamed from itself; remove 'renamedFrom'", at: from.span))
            } else if let other = present[from.value] {
                findings.append(
                    Diagnostic(
                        code,
                        "'\(from.value)' is still there, so nothing can be renamed from it; remove one of the two",
                        at: from.span, notes: [DiagnosticNote("'\(from.value)' is declared here", at: other)]))
            } else if let other = claimed[from.value] {
                findings.append(
                    Diagnostic(
                        code, "two things are renamed from '\(from.value)'; keep one", at: from.span,
                        notes: [DiagnosticNote("the other one", at: other)]))
            }
            claimed[from.value] = claimed[from.value] ?? from.span
        }
        return findings
    }
}
