import MartletBackend
import MartletFrontend
import MartletSchema

/// A parsed, resolved and checked schema.
struct SchemaCheck {
    /// The resolved schema; nil if the schema has errors, or if only the configuration was checked.
    let model: SchemaModel?
    let configuration: ConfigurationModel
    /// The findings of all checks, sorted by file and location.
    let diagnostics: [Diagnostic]

    init(
        _ input: SchemaInput, options: CompilerOptions, findingsPerFile: Int = FindingLimit.maximumShownPerFile,
        modelCheck: ModelCheck?
    ) {
        var configuration = ConfigurationModel()
        var diagnostics: [Diagnostic] = []
        if let source = input.configuration {
            let reading = Frontend.readConfiguration(source)
            configuration = reading.configuration
            diagnostics += reading.diagnostics
        }
        self.configuration = configuration
        diagnostics += input.skippedFiles.map(Self.skippedFile)
        let lint = Self.lintConfiguration(configuration, options)
        if input.isConfigurationOnly {
            model = nil
            self.diagnostics = lint.applied(to: diagnostics, sources: input.sources)
            return
        }
        let analysis = Frontend.analyze(
            input.sources, namespace: configuration.namespace, findingsPerFile: findingsPerFile)
        diagnostics += Self.collisions(among: input.sources) + analysis.diagnostics
        diagnostics += Self.unmatchedPaths(configuration, input.sources)
        diagnostics = lint.applied(to: diagnostics, sources: input.sources)
        if let model = analysis.model, let modelCheck {
            let findings = modelCheck(model, input.sources, lint)
            diagnostics += FindingLimit.apply(findingsPerFile, to: findings, in: input.sources.map(\.file))
        }
        self.diagnostics = Self.sorted(diagnostics, input)
        model = self.diagnostics.contains(where: \.isError) ? nil : analysis.model
    }

    private static func lintConfiguration(
        _ configuration: ConfigurationModel, _ options: CompilerOptions
    ) -> LintConfiguration {
        let preset = { (name: Spanned<String>?) in name.flatMap { LintPreset(rawValue: $0.value) } }
        let overrides = configuration.lintOverrides.map { override in
            LintConfiguration.Override(
                patterns: override.paths.map { PathPattern($0.value) },
                preset: options.preset == nil ? preset(override.preset) : nil, severities: override.rules)
        }
        return LintConfiguration(
            preset: options.preset ?? preset(configuration.lintPreset) ?? .standard,
            severities: configuration.lintRules, overrides: overrides)
    }

    private static func skippedFile(_ path: String) -> Diagnostic {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let isConfiguration = name.lowercased().hasPrefix("martlet.")
        let advice = isConfiguration ? "the configuration is called 'martlet.yaml'" : "schema files end in '.yaml'"
        return Diagnostic(.noSchema, "'\(path)' is not read; \(advice), so rename it", at: nil, severity: .warning)
    }

    /// Reports override paths that match no schema file.
    private static func unmatchedPaths(
        _ configuration: ConfigurationModel, _ sources: [SourceText]
    ) -> [Diagnostic] {
        let unmatched = configuration.lintOverrides.flatMap(\.paths).filter { path in
            let pattern = PathPattern(path.value)
            return !sources.contains { pattern.matches($0.relativePath) }
        }
        let findings = unmatched.map { path in
            Diagnostic(
                .uselessIgnore, "no schema file has a path like '\(path.value)'; correct or remove it", at: path.span)
        }
        return FindingLimit.apply(to: findings, in: unmatched.prefix(1).map(\.span.file))
    }

    /// Reports schema files whose output files would have the same name.
    private static func collisions(among sources: [SourceText]) -> [Diagnostic] {
        let byPath = Dictionary(sources.map { ($0.relativePath, $0) }) { first, _ in first }
        return OutputNames.collisions(among: byPath.keys.sorted()).compactMap { collision in
            guard let second = byPath[collision.second] else { return nil }
            let name = OutputNames.name(forPath: collision.second)
            let notes = collision.first.flatMap { byPath[$0] }
                .map { [DiagnosticNote("the other file", at: $0.span.beginning)] }
            let what = notes == nil ? "the registry file" : "the output of another file"
            return Diagnostic(
                .badConfiguration,
                "the output of this file would be named '\(name)', as is \(what); rename this file",
                at: second.span.beginning, notes: notes ?? [])
        }
    }

    /// Sorts diagnostics by path and location, independent of the file identifiers.
    private static func sorted(_ diagnostics: [Diagnostic], _ input: SchemaInput) -> [Diagnostic] {
        var rank: [SourceFileID: Int] = [:]
        let ordered = input.allSources.sorted { $0.displayPath < $1.displayPath }
        for (index, source) in ordered.enumerated() { rank[source.file] = index }
        let position = { (finding: Diagnostic) in finding.span.map { rank[$0.file] ?? 0 } ?? -1 }
        return diagnostics.sortedByLocation().enumerated()
            .sorted { (position($0.element), $0.offset) < (position($1.element), $1.offset) }
            .map(\.element)
    }
}
