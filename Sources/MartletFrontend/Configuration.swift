public import MartletSchema

/// What `martlet.yaml` says; every part may be left out.
public struct ConfigurationModel: Hashable, Sendable {
    public var access: AccessLevel?
    /// The name of a lint preset.
    public var lintPreset: Spanned<String>?
    /// Codes, and `off`, `note`, `warning` or `error`.
    public var lintRules: [DiagnosticCode: Severity?] = [:]

    public init() {}
}

extension Frontend {
    /// Reads `martlet.yaml`.
    public static func readConfiguration(
        _ source: SourceText
    ) -> (configuration: ConfigurationModel, diagnostics: [Diagnostic]) {
        let reading = FileReader.read(source)
        var reader = ConfigurationReader(SchemaParser(source: source, comments: reading.comments))
        reader.read(reading.root)
        let findings = (reading.diagnostics + reader.parser.diagnostics).map { finding in
            guard finding.code == .unknownKey || finding.code == .wrongShape else { return finding }
            return Diagnostic(
                .badConfiguration, finding.message, at: finding.span, label: finding.label, notes: finding.notes,
                help: finding.help, fixes: finding.fixes)
        }
        return (reader.configuration, findings.sortedByPlace())
    }
}

private struct ConfigurationReader {
    var parser: SchemaParser
    var configuration = ConfigurationModel()

    private static let file = Level(
        name: "the configuration",
        entries: [
            LevelKey("access", .words(AccessLevel.allCases.map(\.rawValue)), "Who sees the generated types."),
            LevelKey("namespace", .text, "Not supported yet."),
            LevelKey("lint", .level, "What lint looks for."),
        ],
        foreign: ["accesslevel": "access", "visibility": "access", "linter": "lint"], advice: [:])
    private static let lint = Level(
        name: "'lint'",
        entries: [
            LevelKey("preset", .words(presets), "Which findings are shown."),
            LevelKey("rules", .level, "Codes, and how severe they are here."),
        ], foreign: [:], advice: [:])
    private static let presets = ["minimal", "standard", "strict"]

    init(_ parser: SchemaParser) {
        self.parser = parser
    }

    mutating func read(_ root: YAMLNode?) {
        if case .scalar(let scalar) = root, scalar.isEmpty { return }
        guard let root, let mapping = parser.mapping(root, of: "the configuration", holds: "keys such as 'access:'")
        else { return }
        let keys = parser.keys(parser.entries(mapping), Self.file)
        if let value = keys.value("access"), let scalar = parser.text(value, of: "'access'") {
            configuration.access = AccessLevel(rawValue: scalar.text)
            if configuration.access == nil {
                reportChoice(scalar, "'access'", AccessLevel.allCases.map(\.rawValue))
            }
        }
        if let entry = keys["namespace"] {
            parser.report(
                .wrongShape, "'namespace' is not supported yet; remove it and let the module be the namespace",
                at: entry.key.span)
        }
        if let value = keys.value("lint"), let lint = parser.mapping(value, of: "'lint'", holds: "'preset' and 'rules'")
        {
            readLint(parser.keys(parser.entries(lint), Self.lint))
        }
    }

    private mutating func readLint(_ keys: KeyReader) {
        if let value = keys.value("preset"), let scalar = parser.text(value, of: "'preset'") {
            if Self.presets.contains(scalar.text) {
                configuration.lintPreset = scalar.spanned
            } else {
                reportChoice(scalar, "'preset'", Self.presets)
            }
        }
        guard let value = keys.value("rules"), let rules = parser.mapping(value, of: "'rules'", holds: "codes") else {
            return
        }
        for entry in parser.entries(rules) {
            guard let code = DiagnosticCode(rawValue: entry.key.text) else {
                parser.report(.wrongShape, "unknown code '\(entry.key.text.shortened)'", at: entry.key.span)
                continue
            }
            guard let scalar = parser.text(entry.value, of: "the level of a rule") else { continue }
            if scalar.text == "off" {
                configuration.lintRules[code] = .some(nil)
            } else if let severity = Severity(rawValue: scalar.text) {
                configuration.lintRules[code] = severity
            } else {
                reportChoice(scalar, "the level of a rule", ["off", "note", "warning", "error"])
            }
        }
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
