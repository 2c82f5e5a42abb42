extension Predicate {
    /// The same condition with other paths. Conditions on elements speak of these and stay as they are.
    func mapPaths(_ change: (PropertyPath) throws -> PropertyPath) rethrows -> Predicate {
        switch self {
        case .constant, .element: self
        case .and(let parts): .and(try parts.map { try $0.mapPaths(change) })
        case .or(let parts): .or(try parts.map { try $0.mapPaths(change) })
        case .not(let part): .not(try part.mapPaths(change))
        case .someNot(let part): .someNot(try part.mapPaths(change))
        case .comparison(let left, let comparison, let right):
            .comparison(try left.mapPaths(change), comparison, try right.mapPaths(change))
        case .contained(let operand, let values, let options):
            .contained(try operand.mapPaths(change), values, options)
        case .range(let operand, let lower, let upper, let includesUpper):
            .range(
                try operand.mapPaths(change), lower: try lower.mapPaths(change), upper: try upper.mapPaths(change),
                includesUpper: includesUpper)
        case .text(let operand, let match, let pattern, let options):
            .text(try operand.mapPaths(change), match, try pattern.mapPaths(change), options)
        case .isRow(let path, let keys): .isRow(try change(path), keys)
        case .exists(let path, let condition): .exists(try change(path), condition)
        case .words(let path, let search): .words(try change(path), search)
        }
    }
}

extension Predicate.Operand {
    func mapPaths(_ change: (PropertyPath) throws -> PropertyPath) rethrows -> Predicate.Operand {
        switch self {
        case .value: self
        case .path(let path): .path(try change(path))
        case .count(let path): .count(try change(path))
        case .kind(let path): .kind(try change(path))
        case .aggregate(let function, let path): .aggregate(function, try change(path))
        case .matching(let path, let condition): .matching(try change(path), condition)
        case .matchingShared(let condition): .matchingShared(try condition.mapPaths(change))
        case .arithmetic(let left, let sign, let right):
            .arithmetic(try left.mapPaths(change), sign, try right.mapPaths(change))
        }
    }
}
