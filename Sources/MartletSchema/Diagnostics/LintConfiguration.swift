/// The settings of lint: which rules are reported, and at which severity.
public struct LintConfiguration: Hashable, Sendable {
    /// Settings for the files whose paths match a pattern.
    public struct Override: Hashable, Sendable {
        public let patterns: [PathPattern]
        /// The preset for these files; nil if the override does not change the preset.
        public let preset: LintPreset?
        /// The severities of individual codes; a nil value silences the code.
        public let severities: [DiagnosticCode: Severity?]

        public init(patterns: [PathPattern], preset: LintPreset? = nil, severities: [DiagnosticCode: Severity?] = [:]) {
            self.patterns = patterns
            self.preset = preset
            self.severities = severities
        }
    }

    public var preset: LintPreset
    /// The severities of individual codes; a nil value silences the code.
    public var severities: [DiagnosticCode: Severity?]
    /// All overrides that match a file are applied in order. For each setting, the last matching override takes
    /// precedence.
    public var overrides: [Override]

    public init(
        preset: LintPreset = .standard, severities: [DiagnosticCode: Severity?] = [:], overrides: [Override] = []
    ) {
        self.preset = preset
        self.severities = severities
        self.overrides = overrides
    }

    /// Applies the settings to findings: changes their severities, and removes the findings that are not shown.
    public func applied(to findings: [Diagnostic], sources: [SourceText]) -> [Diagnostic] {
        let byFile = Dictionary(sources.map { ($0.file, resolved(for: $0.relativePath)) }) { $1 }
        return findings.compactMap { finding in
            (finding.span.flatMap { byFile[$0.file] } ?? self).applied(to: finding)
        }
    }

    /// The settings for one file.
    private func resolved(for path: String) -> LintConfiguration {
        guard !overrides.isEmpty else { return self }
        var result = LintConfiguration(preset: preset, severities: severities)
        for override in overrides where override.patterns.contains(where: { $0.matches(path) }) {
            result.preset = override.preset ?? result.preset
            result.severities.merge(override.severities) { $1 }
        }
        return result
    }

    /// The finding with its configured severity; nil if it is not shown. Errors cannot be silenced.
    private func applied(to finding: Diagnostic) -> Diagnostic? {
        if finding.isError { return finding }
        if let override = severities[finding.code] {
            guard let severity = override else { return nil }
            var result = finding
            result.severity = severity
            return result
        }
        return finding.severity >= preset.lowestSeverity ? finding : nil
    }
}
