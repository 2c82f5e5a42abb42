/// What a change of a schema breaks; the higher level is the graver one.
public enum BreakingLevel: String, Comparable, CaseIterable, Sendable {
    /// Queries are slower or give other answers, or new objects start with other values.
    case query
    /// Code that uses the generated classes stops compiling.
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
