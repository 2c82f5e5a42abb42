public import MartletSchema

/// Which rules speak, and how loud.
public struct LintConfiguration: Hashable, Sendable {
    public enum Preset: String, CaseIterable, Sendable {
        /// Errors alone.
        case minimal
        /// Errors and warnings.
        case standard
        /// Errors, warnings and notes.
        case strict
    }

    public var preset: Preset
    /// What single codes weigh; nil silences one.
    public var overrides: [DiagnosticCode: Severity?]

    public init(preset: Preset = .standard, overrides: [DiagnosticCode: Severity?] = [:]) {
        self.preset = preset
        self.overrides = overrides
    }

    /// The finding as it is shown, or nil when it is not. Errors cannot be silenced.
    func applied(to finding: Diagnostic) -> Diagnostic? {
        if finding.isError { return finding }
        if let override = overrides[finding.code] {
            guard let severity = override else { return nil }
            var result = finding
            result.severity = severity
            return result
        }
        let least: Severity =
            switch preset {
            case .minimal: .error
            case .standard: .warning
            case .strict: .note
            }
        return finding.severity >= least ? finding : nil
    }
}
