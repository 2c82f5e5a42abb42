import MartletSchema

/// An index on what cannot have one, on the primary key, or twice.
struct UselessIndex: LintRule {
    let code = DiagnosticCode.badIndex
    let purpose = "An index stands on a single value that has none yet."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        schema.objects.flatMap { check($0, schema) }
    }

    private func check(_ object: ObjectModel, _ schema: SchemaModel) -> [Diagnostic] {
        var findings: [Diagnostic] = []
        var first: [String: SourceSpan] = [:]
        let listed = Dictionary(object.indexes.map { ($0.value, 1) }, uniquingKeysWith: +)
        var repeated: Set<String> = []
        let properties = Dictionary(
            object.properties.lazy.filter { listed[$0.name] != nil }.map { ($0.name, $0) }
        ) { first, _ in first }
        for entry in object.indexes {
            guard let property = properties[entry.value] else { continue }
            // The second one speaks for all that follow; when it is gone, the next one does.
            if first[entry.value] != nil, !repeated.insert(entry.value).inserted { continue }
            let fixes = schema.removalFix(of: entry)
            let note = DiagnosticNote("'\(property.name)' is declared here", at: property.nameSpan)
            if let earlier = first[entry.value] {
                findings.append(
                    Diagnostic(
                        code, "'\(entry.value)' is listed \(times(listed[entry.value])); keep one", at: entry.span,
                        label: "again here",
                        notes: [DiagnosticNote("it stands here first", at: earlier)], fixes: fixes))
            } else if property.isPrimaryKey {
                findings.append(
                    Diagnostic(
                        code, "'\(entry.value)' is the primary key, which has an index; remove it", at: entry.span,
                        fixes: fixes))
            } else if !property.isIndexed {
                let why =
                    property.type.value.objectName != nil && property.type.isSingle
                    ? "links are indexed without being listed" : "'\(property.type.text)' cannot have an index"
                findings.append(
                    Diagnostic(
                        code, "no index on '\(entry.value)'; \(why), so remove it", at: entry.span,
                        label: "this is '\(property.type.text)'", notes: [note],
                        fixes: fixes))
            }
            first[entry.value] = first[entry.value] ?? entry.span
        }
        for property in object.properties {
            guard let span = property.fullTextSpan, !property.isFullText else { continue }
            findings.append(
                Diagnostic(
                    code, "full text is for 'String', and '\(property.name)' is '\(property.type.text)'; remove it",
                    at: span,
                    fixes: schema.removal(of: span).map { [Fix("remove 'fullText'", .safe, $0)] } ?? []))
        }
        return findings
    }

    private func times(_ count: Int?) -> String {
        guard let count, count > 2 else { return "twice" }
        return "\(count) times"
    }
}

extension SchemaModel {
    /// Takes an entry out of the list it stands in.
    func removalFix(of entry: Spanned<String>) -> [Fix] {
        removal(of: entry.span).map { [Fix("remove '\(entry.value)'", .safe, $0)] } ?? []
    }
}
