import MartletEngine
import MartletValues

/// A parsed rule. The schema facts contain its canonical text, which the compiler writes.
indirect enum RuleSyntax: Sendable, Equatable {
    case constant(Bool)
    case and([RuleSyntax])
    case or([RuleSyntax])
    case not(RuleSyntax)
    case comparison(Operand, Predicate.Comparison, Operand)
    case oneOf(Operand, [Operand])
    /// True if the claim is a list that contains the operand.
    case contained(Operand, claim: [String])

    enum Operand: Sendable, Equatable {
        case path(PropertyPath)
        case claim([String])
        case null
        case bool(Bool)
        /// The text of a number.
        case number(String)
        case text(String)
        case uuid([UInt8])
        case objectId([UInt8])
    }

    /// The paths of the properties that the rule compares.
    var paths: [PropertyPath] {
        switch self {
        case .constant: []
        case .and(let parts), .or(let parts): parts.flatMap(\.paths)
        case .not(let part): part.paths
        case .comparison(let left, _, let right): [left, right].compactMap(\.path)
        case .oneOf(let operand, let values): ([operand] + values).compactMap(\.path)
        case .contained(let operand, _): [operand.path].compactMap { $0 }
        }
    }
}

extension RuleSyntax.Operand {
    var path: PropertyPath? { if case .path(let path) = self { path } else { nil } }
}
