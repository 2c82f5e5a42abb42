public import MartletBackend
import MartletFrontend
import MartletLint
public import MartletSchema

/// Options of a compiler run.
public struct CompilerOptions: Hashable, Sendable {
    /// Overrides the access level of `martlet.yaml`. If both are nil, the access level is `public`.
    public var access: AccessLevel?
    /// Whether lint rules run.
    public var isLinting: Bool
    /// Overrides the preset of `martlet.yaml`. If both are nil, the preset is `standard`.
    public var preset: LintPreset?

    public init(access: AccessLevel? = nil, isLinting: Bool = true, preset: LintPreset? = nil) {
        self.access = access
        self.isLinting = isLinting
        self.preset = preset
    }
}

/// The files of one schema, and its optional configuration.
public struct SchemaInput: Sendable {
    public var sources: [SourceText]
    public var configuration: SourceText?
    /// Files of the schema folder that are ignored because of a wrong file extension.
    public var skippedFiles: [String] = []
    /// Whether only the configuration file is checked.
    public var isConfigurationOnly = false

    public init(sources: [SourceText], configuration: SourceText? = nil) {
        self.sources = sources
        self.configuration = configuration
    }

    /// All files that diagnostics can refer to.
    public var allSources: [SourceText] { sources + [configuration].compactMap(\.self) }
}

/// The result of a run.
public struct Compilation: Sendable {
    /// nil if the schema has errors.
    public let model: SchemaModel?
    /// Empty if the schema has errors.
    public let outputs: [OutputFile]
    /// Sorted by file and place.
    public let diagnostics: [Diagnostic]

    public var hasErrors: Bool { diagnostics.contains(where: \.isError) }
}

/// The pipeline from schema texts to Swift texts. It does not access the disk.
public enum Compiler {
    /// The version that the tools report.
    public static let version = "0.1.0"

    /// Parses, resolves and checks a schema, and generates code if there are no errors.
    public static func compile(_ input: SchemaInput, options: CompilerOptions = CompilerOptions()) -> Compilation {
        let checked = check(input, options: options)
        guard let model = checked.model else {
            return Compilation(model: nil, outputs: [], diagnostics: checked.diagnostics)
        }
        let access = options.access ?? checked.configuration.access ?? .public
        let outputs = Backend.generate(
            model, options: GenerationOptions(access: access, namespace: checked.configuration.namespace?.value))
        return Compilation(model: model, outputs: outputs, diagnostics: checked.diagnostics)
    }

    /// Parses, resolves and checks a schema, and generates no code.
    public static func lint(_ input: SchemaInput, options: CompilerOptions = CompilerOptions()) -> Compilation {
        lint(input, options: options, findingsPerFile: FindingLimit.perFile)
    }

    /// - Parameter findingsPerFile: the maximum number of findings that are reported for each file.
    static func lint(_ input: SchemaInput, options: CompilerOptions, findingsPerFile: Int) -> Compilation {
        let checked = check(input, options: options, findingsPerFile: findingsPerFile)
        return Compilation(model: checked.model, outputs: [], diagnostics: checked.diagnostics)
    }

    private struct Checked {
        let model: SchemaModel?
        let configuration: ConfigurationModel
        let diagnostics: [Diagnostic]
    }

    private static func check(
        _ input: SchemaInput, options: CompilerOptions, findingsPerFile: Int = FindingLimit.perFile
    ) -> Checked {
        var configuration = ConfigurationModel()
        var diagnostics: [Diagnostic] = []
        if let source = input.configuration {
            let reading = Frontend.readConfiguration(source)
            configuration = reading.configuration
            diagnostics += reading.diagnostics
        }
        diagnostics += input.skippedFiles.map(skippedFile)
        let lint = lintConfiguration(configuration, options)
        if input.isConfigurationOnly {
            return Checked(
                model: nil, configuration: configuration,
                diagnostics: Linter.apply(lint, to: diagnostics, sources: input.sources))
        }
        let analysis = Frontend.analyze(
            input.sources, namespace: configuration.namespace, findingsPerFile: findingsPerFile)
        let collisions = collisions(among: input.sources)
        diagnostics += collisions + analysis.diagnostics
        diagnostics = Linter.apply(
            lint, to: diagnostics + unmatchedPaths(configuration, input.sources), sources: input.sources)
        if let model = analysis.model, options.isLinting {
            let findings = Linter.lint(model, sources: input.sources, configuration: lint)
            diagnostics += FindingLimit.apply(findingsPerFile, to: findings, in: input.sources.map(\.file))
        }
        diagnostics = sorted(diagnostics, input)
        let hasErrors = diagnostics.contains(where: \.isError)
        return Checked(model: hasErrors ? nil : analysis.model, configuration: configuration, diagnostics: diagnostics)
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
            let what = notes == nil ? "the name of the registry file" : "the name of another file's output"
            return Diagnostic(
                .badConfiguration, "this file would become '\(name)', \(what); rename it", at: second.span.beginning,
                notes: notes ?? [])
        }
    }

    /// Sorts diagnostics by path and place, independent of the file identifiers.
    private static func sorted(_ diagnostics: [Diagnostic], _ input: SchemaInput) -> [Diagnostic] {
        var rank: [SourceFileID: Int] = [:]
        let ordered = input.allSources.sorted { $0.displayPath < $1.displayPath }
        for (index, source) in ordered.enumerated() { rank[source.file] = index }
        let position = { (finding: Diagnostic) in finding.span.map { rank[$0.file] ?? 0 } ?? -1 }
        return diagnostics.sortedByPlace().enumerated()
            .sorted { (position($0.element), $0.offset) < (position($1.element), $1.offset) }
            .map(\.element)
    }
}
