public import MartletSchema

/// Runs the rules over a schema, and the schema's own comments over their findings.
public enum Linter {
    public static func lint(
        _ schema: SchemaModel, sources: [SourceText], configuration: LintConfiguration = LintConfiguration()
    ) -> [Diagnostic] {
        let findings = RuleRegistry.rules.flatMap { $0.check(schema) }
        let lines = Dictionary(sources.map { ($0.file, $0) }) { first, _ in first }
        var ignores = IgnoreTable(schema)
        let kept = findings.filter { finding in
            guard let span = finding.span, let source = lines[span.file] else { return true }
            return !ignores.silences(finding.code, file: span.file, line: source.lineIndex(at: span.start))
        }
        return (kept + ignores.unused()).compactMap { configuration.applied(to: $0) }.sortedByPlace()
    }
}

/// The `martlet:ignore` comments of a schema, and which of them were of use.
struct IgnoreTable {
    private struct Key: Hashable {
        let file: SourceFileID
        let line: Int
        let code: String
    }

    private let entries: [(key: Key, span: SourceSpan)]
    private let keys: Set<Key>
    private var used: Set<Key> = []

    init(_ schema: SchemaModel) {
        entries = schema.files.flatMap { file in
            file.ignores.map { (Key(file: file.file, line: $0.line, code: $0.code.value), $0.code.span) }
        }
        keys = Set(entries.map(\.key))
    }

    mutating func silences(_ code: DiagnosticCode, file: SourceFileID, line: Int) -> Bool {
        let key = Key(file: file, line: line, code: code.rawValue)
        guard keys.contains(key) else { return false }
        used.insert(key)
        return true
    }

    func unused() -> [Diagnostic] {
        entries.filter { !used.contains($0.key) }.map { entry in
            Diagnostic(
                .uselessIgnore, "'martlet:ignore \(entry.key.code)' silences nothing; remove it", at: entry.span,
                label: "no such finding on the next line")
        }
    }
}
