import MartletSchema

/// Reports indexes that are duplicate, not supported or on the primary key. This rule also reports `unique` lists that
/// are repeated or contain only the primary key, and `fullText` on properties that are not strings.
struct BadIndex: LintRule {
    let code = DiagnosticCode.badIndex
    let requirement = "Indexes are declared only for single values that have no index yet."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        schema.objects.flatMap { check($0, schema) }
    }

    private func check(_ object: ObjectModel, _ schema: SchemaModel) -> [Diagnostic] {
        var findings: [Diagnostic] = []
        var first: [String: SourceSpan] = [:]
        let counts = Dictionary(object.indexes.map { ($0.value, 1) }, uniquingKeysWith: +)
        var repeated: Set<String> = []
        let properties = Dictionary(
            object.properties.lazy.filter { counts[$0.name] != nil }.map { ($0.name, $0) }
        ) { first, _ in first }
        for entry in object.indexes {
            guard let property = properties[entry.value] else { continue }
            // Of several equal entries, only the second one is reported. After the author has removed it, the next run
            // reports the next one.
            if first[entry.value] != nil, !repeated.insert(entry.value).inserted { continue }
            let fixes = schema.removalFix(of: entry)
            let note = DiagnosticNote("'\(property.name)' is declared here", at: property.nameSpan)
            if let earlier = first[entry.value] {
                findings.append(
                    Diagnostic(
                        code, "'\(entry.value)' is listed \(times(counts[entry.value])); keep one", at: entry.span,
                        label: "again here",
                        notes: [DiagnosticNote("it occurs here first", at: earlier)], fixes: fixes))
            } else if property.isPrimaryKey {
                findings.append(
                    Diagnostic(
                        code, "'\(entry.value)' is the primary key, which always has an index; remove it from 'index'",
                        at: entry.span, fixes: fixes))
            } else if !property.isIndexed {
                let why =
                    property.type.value.objectName != nil && property.type.isSingle
                    ? "is a link, which always has an index" : "is '\(property.type.text)', which cannot have an index"
                findings.append(
                    Diagnostic(
                        code, "'\(entry.value)' \(why); remove it from 'index'", at: entry.span,
                        label: "this is '\(property.type.text)'", notes: [note],
                        fixes: fixes))
            }
            first[entry.value] = first[entry.value] ?? entry.span
        }
        findings += repeatedUnique(object)
        for property in object.properties {
            guard let span = property.fullTextSpan, !property.isFullText else { continue }
            findings.append(
                Diagnostic(
                    code,
                    "'fullText' requires a 'String', and '\(property.name)' is '\(property.type.text)'; "
                        + "remove 'fullText'",
                    at: span,
                    fixes: schema.removal(of: span).map { [Fix("remove 'fullText'", .safe, $0)] } ?? []))
        }
        return findings
    }

    /// Reports `unique` lists that contain the names of an earlier list in any order, or only the primary key.
    private func repeatedUnique(_ object: ObjectModel) -> [Diagnostic] {
        var first: [Set<String>: SourceSpan] = [:]
        var findings: [Diagnostic] = []
        for list in object.unique {
            guard let start = list.first?.span else { continue }
            let names = Set(list.map(\.value))
            if names.count == 1, names.first == object.primaryKey?.value {
                findings.append(
                    Diagnostic(code, "the primary key is unique without being listed; remove the list", at: start))
            } else if let earlier = first[names] {
                findings.append(
                    Diagnostic(
                        code, "these are unique together already; remove the list", at: start, label: "again here",
                        notes: [DiagnosticNote("they occur here first", at: earlier)]))
            }
            first[names] = first[names] ?? start
        }
        return findings
    }

    private func times(_ count: Int?) -> String {
        guard let count, count > 2 else { return "twice" }
        return "\(count) times"
    }
}

extension SchemaModel {
    /// A fix that removes an entry from its list.
    func removalFix(of entry: Spanned<String>) -> [Fix] {
        removal(of: entry.span).map { [Fix("remove '\(entry.value)'", .safe, $0)] } ?? []
    }
}
