/// The severity of a diagnostic. Errors stop generation; warnings and notes do not.
public enum Severity: String, Comparable, CaseIterable, Sendable {
    case note
    case warning
    case error

    public static func < (left: Severity, right: Severity) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .note: 0
        case .warning: 1
        case .error: 2
        }
    }
}
