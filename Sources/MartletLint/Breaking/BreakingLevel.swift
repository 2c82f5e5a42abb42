/// What a schema change breaks. A higher level is more severe.
public enum BreakingLevel: String, Comparable, CaseIterable, Sendable {
    /// Programs still compile and keep their data, but behave differently. For example, queries become slower or return
    /// other results, new objects have other default values, or deletions and synchronization have other effects.
    case query
    /// Code that uses the generated classes no longer compiles.
    case source
    /// Stored values are lost or cannot be read.
    case data

    public static func < (left: BreakingLevel, right: BreakingLevel) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .query: 0
        case .source: 1
        case .data: 2
        }
    }
}
