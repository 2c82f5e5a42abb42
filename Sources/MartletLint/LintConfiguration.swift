public import MartletSchema

/// Which rules speak, and how loud.
public struct LintConfiguration: Hashable, Sendable {
    /// What holds for some of the files alone.
    public struct Override: Hashable, Sendable {
        public let patterns: [PathPattern]
        /// nil leaves the preset as it is.
        public let preset: LintPreset?
        public let severities: [DiagnosticCode: Severity?]

        public init(patterns: [PathPattern], preset: LintPreset? = nil, severities: [DiagnosticCode: Severity?] = [:]) {
            self.patterns = patterns
            self.preset = preset
            self.severities = severities
        }
    }

    public var preset: LintPreset
    /// What single codes weigh; nil silences one.
    public var severities: [DiagnosticCode: Severity?]
    /// In their order: of two that match a file, the later one wins.
    public var overrides: [Override]

    public init(
        preset: LintPreset = .standard, severities: [DiagnosticCode: Severity?] = [:], overrides: [Override] = []
    ) {
        self.preset = preset
        self.severities = severities
        self.overrides = overrides
    }

    /// What holds for one file, or for findings without a file.
    func resolved(for path: String?) -> LintConfiguration {
        guard let path, !overrides.isEmpty else { return self }
        var result = LintConfiguration(preset: preset, severities: severities)
        for override in overrides where override.patterns.contains(where: { $0.matches(path) }) {
            result.preset = override.preset ?? result.preset
            result.severities.merge(override.severities) { $1 }
        }
        return result
    }

    /// The finding as it is shown, or nil when it is not. Errors cannot be silenced.
    func applied(to finding: Diagnostic) -> Diagnostic? {
        if finding.isError { return finding }
        if let override = severities[finding.code] {
            guard let severity = override else { return nil }
            var result = finding
            result.severity = severity
            return result
        }
        return finding.severity >= preset.least ? finding : nil
    }
}
