/// A preset that determines which severities lint shows.
public enum LintPreset: String, CaseIterable, Sendable {
    /// Errors only.
    case minimal
    /// Errors and warnings.
    case standard
    /// Errors, warnings and notes.
    case strict

    /// The lowest severity that is shown.
    public var lowestSeverity: Severity {
        switch self {
        case .minimal: .error
        case .standard: .warning
        case .strict: .note
        }
    }
}
