public import MartletSchema

/// Runs the lint rules on a schema, and applies its `martlet:ignore` comments to their findings.
public enum Linter {
    public static func lint(
        _ schema: SchemaModel, sources: [SourceText], configuration: LintConfiguration = LintConfiguration()
    ) -> [Diagnostic] {
        let findings = RuleRegistry.rules.flatMap { $0.check(schema) }
        let byFile = Dictionary(sources.map { ($0.file, $0) }) { first, _ in first }
        var ignores = IgnoreTable(schema)
        let kept = findings.filter { finding in
            guard !finding.isError, let span = finding.span, let source = byFile[span.file] else { return true }
            return !ignores.silences(finding.code, file: span.file, line: source.lineIndex(at: span.start))
        }
        return configuration.applied(to: kept + ignores.unused(), sources: sources).sortedByLocation()
    }
}
