import MartletSchema

/// Reports a `renamedFrom` that cannot be applied, because a declaration with the old name still exists, or because two
/// declarations specify the same old name.
struct StaleRename: LintRule {
    let code = DiagnosticCode.staleRename
    let requirement = "A 'renamedFrom' names a declaration that no longer exists."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        let objects = schema.objects.map { Declaration($0.name, $0.nameSpan, $0.renamedFrom) }
        let enums = schema.enums.map { Declaration($0.name, $0.nameSpan, $0.renamedFrom) }
        return check(objects, schema) + check(enums, schema)
            + schema.objects.flatMap { object in
                check(object.properties.map { Declaration($0.name, $0.nameSpan, $0.renamedFrom) }, schema)
            }
    }

    private typealias Declaration = (name: String, span: SourceSpan, from: Spanned<String>?)

    private func check(_ declarations: [Declaration], _ schema: SchemaModel) -> [Diagnostic] {
        guard declarations.contains(where: { $0.from != nil }) else { return [] }
        let present = Dictionary(declarations.map { ($0.name, $0.span) }) { first, _ in first }
        var claimed: [String: SourceSpan] = [:]
        var findings: [Diagnostic] = []
        for declaration in declarations {
            guard let from = declaration.from else { continue }
            // If two declarations conflict, either of them can be the wrong one, so the author has to decide.
            let applicability: Fix.Applicability = from.value == declaration.name ? .safe : .suggested
            let fixes = schema.removal(of: from.span).map { [Fix("remove 'renamedFrom'", applicability, $0)] } ?? []
            if from.value == declaration.name {
                findings.append(
                    Diagnostic(
                        code, "'\(declaration.name)' is renamed from itself; remove 'renamedFrom'", at: from.span,
                        fixes: fixes))
            } else if let other = present[from.value] {
                findings.append(
                    Diagnostic(
                        code,
                        "'\(from.value)' is still declared, so nothing can be renamed from it; remove 'renamedFrom'",
                        at: from.span, notes: [DiagnosticNote("'\(from.value)' is declared here", at: other)],
                        fixes: fixes))
            } else if let other = claimed[from.value] {
                findings.append(
                    Diagnostic(
                        code, "two declarations are renamed from '\(from.value)'; remove one 'renamedFrom'",
                        at: from.span, notes: [DiagnosticNote("the other one", at: other)], fixes: fixes))
            }
            claimed[from.value] = claimed[from.value] ?? from.span
        }
        return findings
    }
}
