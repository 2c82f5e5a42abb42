package import MartletSchema

extension RuleCondition {
    /// An equivalent condition in which `NOT` applies only to `<`, `<=`, `>`, `>=` and `IN`.
    package var inNegationNormalForm: RuleCondition { normalized(isNegated: false) }

    private func normalized(isNegated: Bool) -> RuleCondition {
        switch self {
        case .constant(let value): .constant(value != isNegated)
        case .not(let part): part.normalized(isNegated: !isNegated)
        case .and(let parts):
            isNegated
                ? .or(parts.map { $0.normalized(isNegated: true) })
                : .and(parts.map { $0.normalized(isNegated: false) })
        case .or(let parts):
            isNegated
                ? .and(parts.map { $0.normalized(isNegated: true) })
                : .or(parts.map { $0.normalized(isNegated: false) })
        case .comparison(let left, .equal, let right) where isNegated: .comparison(left, .notEqual, right)
        case .comparison(let left, .notEqual, let right) where isNegated: .comparison(left, .equal, right)
        case .comparison, .oneOf, .contained: isNegated ? .not(self) : self
        }
    }
}
