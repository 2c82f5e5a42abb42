public import MartletSchema

/// The contents of `martlet.yaml`. All top-level keys are optional.
public struct ConfigurationModel: Hashable, Sendable {
    public var access: AccessLevel?
    /// The source range of the access level; nil if the file contains no access level.
    public var accessSpan: SourceSpan?
    /// The enum that contains all generated types; nil if they are declared at the top level of the module. The name is
    /// valid in Swift.
    public var namespace: Spanned<String>?
    /// The name of a lint preset.
    public var lintPreset: Spanned<String>?
    /// The severity of each listed rule; a nil value means `off`.
    public var lintRules: [DiagnosticCode: Severity?] = [:]
    public var lintOverrides: [LintOverrideModel] = []

    public init() {}
}

/// Lint settings for the files that match the patterns.
public struct LintOverrideModel: Hashable, Sendable {
    /// Patterns for the paths of schema files, in which `*` and `**` are wildcards.
    public var paths: [Spanned<String>] = []
    public var preset: Spanned<String>?
    public var rules: [DiagnosticCode: Severity?] = [:]
}

extension Frontend {
    /// Reads `martlet.yaml`.
    public static func readConfiguration(
        _ source: SourceText
    ) -> (configuration: ConfigurationModel, diagnostics: [Diagnostic]) {
        let reading = FileReader.read(source)
        var reader = ConfigurationReader(SchemaParser(source: source, comments: reading.comments))
        reader.read(reading.root)
        var all = reading.diagnostics
        all += reader.parser.diagnostics
        let findings = all.findings.map { finding in
            guard finding.code == .unknownKey || finding.code == .wrongShape else { return finding }
            return Diagnostic(
                .badConfiguration, finding.message, at: finding.span, label: finding.label, notes: finding.notes,
                help: finding.help, fixes: finding.fixes)
        }
        return (
            reader.configuration, FindingLimit.apply(to: findings, in: [source.file], dropped: all.dropped)
        )
    }
}

/// The keys of `martlet.yaml`.
extension MappingKind {
    static let configuration = MappingKind(
        name: "the configuration",
        entries: [
            MappingKey(
                "access", .choices(AccessLevel.allCases.map(\.rawValue)), "The access level of the generated types."),
            MappingKey("namespace", .name, "The enum that contains all generated types."),
            MappingKey("lint", .mapping, "The settings of the lint rules."),
        ],
        synonyms: ["accesslevel": "access", "visibility": "access", "linter": "lint"], advice: [:])
    static let lint = MappingKind(
        name: "'lint'",
        entries: [
            MappingKey("preset", .choices(presets), "Which findings are shown."),
            MappingKey("rules", .mapping, "Codes and their severities."),
            MappingKey("overrides", .mapping, "Other presets and severities for some files."),
        ],
        synonyms: ["rule": "rules", "paths": "overrides", "level": "preset"], advice: [:])
    static let lintOverride = MappingKind(
        name: "an override",
        entries: [
            MappingKey("paths", .text, "The files, as patterns such as 'Legacy/**'.", isRequired: true),
            MappingKey("preset", .choices(presets), "Which findings are shown for these files."),
            MappingKey("rules", .mapping, "Codes and their severities in these files."),
        ],
        synonyms: ["path": "paths", "files": "paths", "rule": "rules"], advice: [:])

    fileprivate static let presets = ["minimal", "standard", "strict"]
}

private struct ConfigurationReader {
    var parser: SchemaParser
    var configuration = ConfigurationModel()

    init(_ parser: SchemaParser) {
        self.parser = parser
    }

    mutating func read(_ root: YAMLNode?) {
        if case .scalar(let scalar) = root, scalar.isEmpty { return }
        guard let root, let mapping = parser.mapping(root, of: "the configuration", holds: "keys such as 'access:'")
        else { return }
        let keys = parser.keys(parser.entries(mapping), MappingKind.configuration)
        if let value = keys.value("access"), let scalar = parser.text(value, of: "'access'") {
            configuration.access = AccessLevel(rawValue: scalar.text)
            configuration.accessSpan = scalar.span
            if configuration.access == nil {
                reportChoice(scalar, "'access'", AccessLevel.allCases.map(\.rawValue))
            }
        }
        configuration.namespace = readNamespace(keys)
        if let value = keys.value("lint"), let lint = parser.mapping(value, of: "'lint'", holds: "'preset' and 'rules'")
        {
            readLint(parser.keys(parser.entries(lint), MappingKind.lint))
        }
    }

    private mutating func readNamespace(_ keys: KeyReader) -> Spanned<String>? {
        guard let value = keys.value("namespace"), let scalar = parser.text(value, of: "'namespace'") else {
            return nil
        }
        guard let problem = NameRules.problem(ofNamespace: scalar.text) else { return scalar.spanned }
        parser.report(
            .wrongShape, problem.message, at: scalar.span, help: problem.replacement.map { "write '\($0)'" },
            fixes: problem.replacement.map { [Fix("write '\($0)'", .suggested, [Edit(scalar.span, $0)])] } ?? [])
        return nil
    }

    private mutating func readLint(_ keys: KeyReader) {
        configuration.lintPreset = readPreset(keys)
        configuration.lintRules = readRules(keys)
        switch keys.value("overrides") {
        case nil, .broken: break
        case .sequence(let sequence): for item in sequence.items { readOverride(item) }
        case let node?:
            parser.report(
                .wrongShape, "'overrides' holds a list, not \(node.shape); write '- paths: [Legacy/**]'", at: node.span)
        }
    }

    private mutating func readOverride(_ node: YAMLNode) {
        guard let mapping = parser.mapping(node, of: "an override", holds: "'paths', and 'preset' or 'rules'") else {
            return
        }
        let keys = parser.keys(parser.entries(mapping), MappingKind.lintOverride)
        var override = LintOverrideModel()
        let items: [YAMLNode] =
            switch keys.value("paths") {
            case .sequence(let sequence): sequence.items
            case let node?: [node]
            case nil: []
            }
        override.paths = items.compactMap { parser.text($0, of: "a path")?.spanned }
        if items.isEmpty {
            let span = keys["paths"]?.key.span ?? mapping.entries.first?.key.span ?? mapping.span
            parser.report(.wrongShape, "an override names no path; write 'paths: [Legacy/**]'", at: span)
        }
        override.preset = readPreset(keys)
        override.rules = readRules(keys)
        configuration.lintOverrides.append(override)
    }

    private mutating func readPreset(_ keys: KeyReader) -> Spanned<String>? {
        guard let value = keys.value("preset"), let scalar = parser.text(value, of: "'preset'") else { return nil }
        if MappingKind.presets.contains(scalar.text) { return scalar.spanned }
        reportChoice(scalar, "'preset'", MappingKind.presets)
        return nil
    }

    private mutating func readRules(_ keys: KeyReader) -> [DiagnosticCode: Severity?] {
        guard let value = keys.value("rules"), let rules = parser.mapping(value, of: "'rules'", holds: "codes") else {
            return [:]
        }
        var result: [DiagnosticCode: Severity?] = [:]
        for entry in parser.entries(rules) {
            guard let code = DiagnosticCode(rawValue: entry.key.text) else {
                parser.report(
                    .wrongShape, "unknown code '\(entry.key.text.shortened)'; write one such as 'MRT0501'",
                    at: entry.key.span)
                continue
            }
            guard code.canBeSilenced else {
                parser.report(
                    .wrongShape, "'\(entry.key.text)' is always an error; remove it from 'rules'", at: entry.key.span)
                continue
            }
            guard let scalar = parser.text(entry.value, of: "the level of a rule") else { continue }
            if scalar.text == "off" {
                result[code] = .some(nil)
            } else if let severity = Severity(rawValue: scalar.text) {
                result[code] = severity
            } else {
                reportChoice(scalar, "the level of a rule", ["off", "note", "warning", "error"])
            }
        }
        return result
    }

    private mutating func reportChoice(_ scalar: YAMLScalar, _ owner: String, _ choices: [String]) {
        let names = parser.suggestions.nearest(to: scalar.text, among: choices)
        let list = choices.map { "'\($0)'" }.joined(separator: ", ")
        parser.report(
            .wrongShape, "\(owner) is one of \(list), not '\(scalar.text.shortened)'", at: scalar.span,
            help: Suggestions.question(names),
            fixes: names.map { Fix("write '\($0)'", .suggested, [Edit(scalar.span, $0)]) })
    }
}
