import MartletSQLite
import MartletValues

extension Predicate {
    /// Rewrites a condition on an owner as a condition on the elements of its collection. Conditions inside `exists`
    /// and `matching` already refer to elements, and do not change.
    ///
    /// - Parameter inside: returns the part of a path after the collection. This part is a path from an element. The
    ///   closure returns nil if the path has at most `keepingLast` collections; the path then still starts at the
    ///   owner.
    func mapPaths(_ inside: (PropertyPath, _ keepingLast: Int) throws -> PropertyPath?) throws -> Predicate {
        switch self {
        case .constant, .element: self
        case .and(let parts): .and(try parts.map { try $0.mapPaths(inside) })
        case .or(let parts): .or(try parts.map { try $0.mapPaths(inside) })
        case .not(let part): .not(try part.mapPaths(inside))
        case .someNot(let part): .someNot(try part.mapPaths(inside))
        case .comparison(let left, let comparison, let right):
            .comparison(try left.mapPaths(inside), comparison, try right.mapPaths(inside))
        case .contained(let operand, let values, let options):
            .contained(try operand.mapPaths(inside), values, options)
        case .range(let operand, let lower, let upper, let includesUpper):
            .range(
                try operand.mapPaths(inside), lower: try lower.mapPaths(inside), upper: try upper.mapPaths(inside),
                includesUpper: includesUpper)
        case .text(let operand, let match, let pattern, let options):
            .text(try operand.mapPaths(inside), match, try pattern.mapPaths(inside), options)
        case .isRow(let path, let keys):
            if let path = try inside(path, 0) {
                .isRow(path, keys)
            } else {
                .contained(.outer(1, .path(path)), keys.map { .integer($0) })
            }
        case .exists(let path, let condition): .exists(try required(path, inside), condition)
        case .fullText(let path, let search): .fullText(try required(path, inside), search)
        }
    }

    private func required(
        _ path: PropertyPath, _ inside: (PropertyPath, _ keepingLast: Int) throws -> PropertyPath?
    ) throws -> PropertyPath {
        guard let inner = try inside(path, 0) else {
            throw QueryFailure("'\(path.text)' does not belong to the collection whose elements are counted")
        }
        return inner
    }
}

extension Predicate.Operand {
    func mapPaths(_ inside: (PropertyPath, _ keepingLast: Int) throws -> PropertyPath?) throws -> Predicate.Operand {
        func moved(
            _ path: PropertyPath, keepingLast count: Int = 0, _ operand: (PropertyPath) -> Predicate.Operand
        ) throws -> Predicate.Operand { try inside(path, count).map(operand) ?? .outer(1, self) }
        switch self {
        case .value: return self
        case .path(let path): return try moved(path) { .path($0) }
        case .count(let path): return try moved(path, keepingLast: 1) { .count($0) }
        case .kind(let path): return try moved(path) { .kind($0) }
        case .aggregate(let function, let path): return try moved(path, keepingLast: 1) { .aggregate(function, $0) }
        case .matching(let path, let condition): return try moved(path, keepingLast: 1) { .matching($0, condition) }
        case .matchingShared(let condition): return .matchingShared(try condition.mapPaths(inside))
        case .outer(let level, let operand): return .outer(level + 1, operand)
        case .arithmetic(let left, let sign, let right):
            return .arithmetic(try left.mapPaths(inside), sign, try right.mapPaths(inside))
        }
    }
}
