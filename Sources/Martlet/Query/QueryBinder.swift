import MartletEngine
import MartletValues

/// Binds a parsed query string to the schema: resolves names to paths, and converts literals to the types with which
/// they are compared.
struct QueryBinder {
    /// Where the key paths in a condition start: at a row of a type, or at an element of a collection of values.
    struct Scope {
        enum Start {
            case rows(TableID)
            case values(ElementType)
        }

        let start: Start
        /// The variable of a subquery; nil for the outermost condition.
        var variable: String?
        /// The scopes of the enclosing conditions, from the outermost.
        var enclosing: [Scope] = []

        /// The distance to the nearest scope that declares `variable`: 0 for this scope, 1 for the scope that directly
        /// encloses it, and so on. Nil if no scope declares the variable.
        func level(of variable: String?) -> Int? {
            if variable == self.variable { return 0 }
            return enclosing.lastIndex { $0.variable == variable }.map { enclosing.count - $0 }
        }
    }

    let schema: DatabaseSchema
    /// The objects in the arguments of the query. They must belong to the Realm that runs the query.
    private(set) var objects: [ObjectBase] = []

    init(_ schema: DatabaseSchema) { self.schema = schema }

    // MARK: Conditions

    mutating func bind(
        _ condition: QuerySyntax.Condition, _ scope: Scope
    ) throws(QuerySyntaxError) -> MartletEngine.Predicate {
        switch condition {
        case .constant(let value): return .constant(value)
        case .and(let parts): return .and(try bind(parts, scope).flatMap(\.conjuncts))
        case .or(let parts): return .or(try bind(parts, scope).flatMap(\.alternatives))
        case .not(let part): return try bind(part, scope).negated
        case .comparison(let comparison): return try bind(comparison, scope)
        case .value(.literal(.bool(let value), _)): return .constant(value)
        case .value(let operand):
            let bound = try bind(operand, scope)
            guard case .element(.scalar(.bool)) = bound.source else {
                throw QuerySyntaxError(
                    offset: operand.offset, message: "expected a condition, but found \(bound.description)")
            }
            return .comparison(bound.operand, .equal, .value(.integer(1)))
        }
    }

    private mutating func bind(
        _ parts: [QuerySyntax.Condition], _ scope: Scope
    ) throws(QuerySyntaxError) -> [MartletEngine.Predicate] {
        var bound: [MartletEngine.Predicate] = []
        for part in parts { bound.append(try bind(part, scope)) }
        return bound
    }

    private mutating func bind(
        _ comparison: QuerySyntax.Comparison, _ scope: Scope
    ) throws(QuerySyntaxError) -> MartletEngine.Predicate {
        let (left, right) = (try bind(comparison.left, scope), try bind(comparison.right, scope))
        guard let quantifier = comparison.quantifier else { return try bindRelation(left, right, comparison) }
        guard left.isPlural else {
            throw QuerySyntaxError(
                offset: comparison.left.offset,
                message: "'ANY', 'ALL' and 'NONE' need a path through a collection, and \(left.description) has none")
        }
        let condition = try bindRelation(left, right, comparison)
        switch quantifier {
        case .any: return condition
        case .none: return condition.negated
        case .all:
            guard !right.isPlural else {
                throw QuerySyntaxError(
                    offset: comparison.right.offset,
                    message: "'ALL' compares with one value; write 'SUBQUERY(…).@count == 0' instead")
            }
            return condition.negatedForSomeElement.negated
        }
    }

    // MARK: Relations

    private mutating func bindRelation(
        _ left: BoundOperand, _ right: BoundOperand, _ comparison: QuerySyntax.Comparison
    ) throws(QuerySyntaxError) -> MartletEngine.Predicate {
        switch comparison.relation {
        case .compare(let sign):
            guard comparison.options.isEmpty || left.isNil || right.isNil else {
                let equal = try text(left, .equals, right, comparison)
                return sign == .equal ? equal : equal.negatedForSomeElement
            }
            return try compare(left, sign, right, comparison)
        // Without a quantifier, 'CONTAINS' tests whether a collection contains an element. With a quantifier, it tests
        // whether the text of each element contains another text.
        case .text(.contains) where left.isCollection && comparison.quantifier == nil:
            return try bindMembership(of: right, in: left, comparison)
        case .text(let match): return try text(left, match, right, comparison)
        case .isIn: return try bindIn(left, right, comparison)
        case .between: return try between(left, right, comparison)
        case .fullText: return try fullText(left, right, comparison)
        }
    }

    private mutating func bindMembership(
        of value: BoundOperand, in collection: BoundOperand, _ comparison: QuerySyntax.Comparison
    ) throws(QuerySyntaxError) -> MartletEngine.Predicate {
        try comparison.options.isEmpty || value.isNil
            ? compare(collection, .equal, value, comparison) : text(collection, .equals, value, comparison)
    }

    private mutating func compare(
        _ left: BoundOperand, _ sign: MartletEngine.Predicate.Comparison, _ right: BoundOperand,
        _ comparison: QuerySyntax.Comparison
    ) throws(QuerySyntaxError) -> MartletEngine.Predicate {
        switch (left.source, right.source) {
        case (.literal(let a), .literal(let b)):
            guard let element = a.comparisonType, let first = a.storedOperand(for: element),
                let second = b.storedOperand(for: element)
            else { throw mismatch(left, right, comparison) }
            return .comparison(.value(first), sign, .value(second))
        case (.literal, .element): return try compare(right, sign.flipped, left, comparison)
        case (.element(let element), .literal(let literal)):
            if let target = element.target, literal != .null {
                return try compareLink(left, target, sign, literal, right, comparison)
            }
            guard let value = literal.storedOperand(for: element) else { throw mismatch(left, right, comparison) }
            if element == .scalar(.any) { objects += literal.managedObjects }
            return .comparison(left.operand, sign, .value(value))
        case (.element(let a), .element(let b)):
            guard ComparedKind(a).isComparable(with: ComparedKind(b)), a.target == nil || sign.isEquality else {
                throw mismatch(left, right, comparison)
            }
            return .comparison(left.operand, sign, right.operand)
        }
    }

    private mutating func compareLink(
        _ left: BoundOperand, _ target: String, _ sign: MartletEngine.Predicate.Comparison, _ literal: QueryLiteral,
        _ right: BoundOperand, _ comparison: QuerySyntax.Comparison
    ) throws(QuerySyntaxError) -> MartletEngine.Predicate {
        guard sign.isEquality, case .object(let object) = literal, object._typeName == target else {
            throw mismatch(left, right, comparison)
        }
        let isRow: MartletEngine.Predicate
        switch left.operand {
        case .path(let path): isRow = .isRow(path, keys([object]))
        case .outer: isRow = .contained(left.operand, keys([object]).map { .integer($0) })
        default: throw mismatch(left, right, comparison)
        }
        return sign == .equal ? isRow : isRow.negatedForSomeElement
    }

    // The object keys of the managed objects. An unmanaged object has no key and matches nothing.
    private mutating func keys(_ given: [ObjectBase]) -> [ObjectKey] {
        for object in given where object._state == .invalidated {
            Misuse.invalidated(object._typeName, object._keyDescription)
        }
        let managed = given.filter { $0._context != nil }
        objects += managed
        return managed.map(\._key)
    }

    private func text(
        _ left: BoundOperand, _ match: MartletEngine.Predicate.TextMatch, _ right: BoundOperand,
        _ comparison: QuerySyntax.Comparison
    ) throws(QuerySyntaxError) -> MartletEngine.Predicate {
        guard case .element(let element) = left.source, ComparedKind(element).supportsTextOperators else {
            throw mismatch(left, right, comparison)
        }
        switch right.source {
        case .literal(let literal):
            guard literal != .null, let value = literal.storedOperand(for: element) else {
                throw mismatch(left, right, comparison)
            }
            return .text(left.operand, match, .value(value), comparison.options)
        case .element(let other):
            guard ComparedKind(element).isComparable(with: ComparedKind(other)) else {
                throw mismatch(left, right, comparison)
            }
            return .text(left.operand, match, right.operand, comparison.options)
        }
    }

    private mutating func bindIn(
        _ left: BoundOperand, _ right: BoundOperand, _ comparison: QuerySyntax.Comparison
    ) throws(QuerySyntaxError) -> MartletEngine.Predicate {
        guard let values = right.listElements else {
            guard right.isPlural else {
                throw QuerySyntaxError(
                    offset: comparison.right.offset,
                    message:
                        "expected a list such as '{1, 2}', a sequence argument, or a path that leads to or through a "
                        + "collection after 'IN'")
            }
            return try bindMembership(of: left, in: right, comparison)
        }
        guard case .element(let element) = left.source else { throw mismatch(left, right, comparison) }
        let options = comparison.options
        guard options.isEmpty || ComparedKind(element).supportsTextOperators else {
            throw mismatch(left, right, comparison)
        }
        var stored: [SQLValue] = []
        for value in values {
            if case .object(let object) = value, object._typeName == element.target {
                stored += keys([object]).map(SQLValue.integer)
                continue
            }
            if element == .scalar(.any) { objects += value.managedObjects }
            guard let operand = value.storedOperand(for: element) else {
                throw mismatch(left, BoundOperand(value), comparison)
            }
            stored.append(operand)
        }
        return .contained(left.operand, stored, options)
    }

    private func between(
        _ left: BoundOperand, _ right: BoundOperand, _ comparison: QuerySyntax.Comparison
    ) throws(QuerySyntaxError) -> MartletEngine.Predicate {
        guard let bounds = right.listElements, bounds.count == 2 else {
            throw QuerySyntaxError(
                offset: comparison.right.offset, message: "expected two bounds after 'BETWEEN', as in '{1, 10}'")
        }
        guard case .element(let element) = left.source, element.target == nil,
            let lower = bounds[0].storedOperand(for: element), let upper = bounds[1].storedOperand(for: element)
        else { throw mismatch(left, right, comparison) }
        return .range(left.operand, lower: .value(lower), upper: .value(upper), includesUpper: true)
    }

    private func fullText(
        _ left: BoundOperand, _ right: BoundOperand, _ comparison: QuerySyntax.Comparison
    ) throws(QuerySyntaxError) -> MartletEngine.Predicate {
        guard left.isFullText, case .path(let path) = left.operand else {
            throw QuerySyntaxError(
                offset: comparison.left.offset,
                message: "'TEXT' needs a property that the schema declares with 'fullText: true'")
        }
        guard case .literal(.string(let search)) = right.source else { throw mismatch(left, right, comparison) }
        return .fullText(path, FullTextSearch(search))
    }

    private func mismatch(
        _ left: BoundOperand, _ right: BoundOperand, _ comparison: QuerySyntax.Comparison
    ) -> QuerySyntaxError {
        QuerySyntaxError(
            offset: comparison.offset,
            message: "\(left.description) and \(right.description) cannot be compared in this way")
    }

    // MARK: Operands

    private mutating func bind(
        _ operand: QuerySyntax.Operand, _ scope: Scope
    ) throws(QuerySyntaxError) -> BoundOperand {
        switch operand {
        case .literal(let literal, _): return BoundOperand(literal)
        case .list(let parts, _):
            var literals: [QueryLiteral] = []
            for part in parts {
                guard case .literal(let literal, _) = part else {
                    throw QuerySyntaxError(
                        offset: part.offset, message: "expected a value; a list cannot contain key paths")
                }
                literals.append(literal)
            }
            return BoundOperand(.list(literals))
        case .path(let path): return try bind(path, scope)
        case .subquery(let path, let variable, let condition, let offset):
            guard scope.level(of: path.variable) ?? 0 == 0 else {
                throw QuerySyntaxError(
                    offset: path.offset, message: "a nested SUBQUERY must begin with '$\(scope.variable ?? "")'"
                )
            }
            let resolved = try resolve(path, scope)
            guard let end = resolved.collectionEnd, end == resolved.path.components.count else {
                throw QuerySyntaxError(offset: offset, message: "a SUBQUERY needs a collection")
            }
            let inner = try bind(
                condition, Scope(start: resolved.elementScope, variable: variable, enclosing: scope.enclosing + [scope])
            )
            return BoundOperand(.matching(resolved.path, inner), .scalar(.int), "the count of a SUBQUERY")
        case .arithmetic(let left, let sign, let right, let offset):
            let (a, b) = (try bind(left, scope), try bind(right, scope))
            guard let first = a.asNumber, let second = b.asNumber else {
                throw QuerySyntaxError(
                    offset: offset,
                    message: "'\(sign.rawValue)' needs integers or floating-point numbers on both sides")
            }
            let type = ElementType.scalar(a.isWhole && b.isWhole ? .int64 : .double)
            var result = BoundOperand(.arithmetic(first, sign, second), type, "a number")
            result.isPlural = a.isPlural || b.isPlural
            return result
        }
    }

    private func bind(_ path: QuerySyntax.Path, _ scope: Scope) throws(QuerySyntaxError) -> BoundOperand {
        guard let level = scope.level(of: path.variable), level > 0 else { return try bindInScope(path, scope) }
        return try bindInScope(path, scope.enclosing[scope.enclosing.count - level]).inSubquery(level)
    }

    // Binds a path that starts in the given scope.
    private func bindInScope(_ path: QuerySyntax.Path, _ scope: Scope) throws(QuerySyntaxError) -> BoundOperand {
        let resolved = try resolve(path, scope)
        let text = "'\(resolved.path.text)'"
        guard let (function, position) = path.function else {
            return BoundOperand(resolved, "\(text), which is '\(resolved.typeDescription)',")
        }
        if function == .kind { return try kind(resolved, path, isAtEnd: position == path.components.count) }
        guard let end = resolved.collectionEnd else {
            throw QuerySyntaxError(
                offset: path.offset, message: "\(text) is not a collection, so it has no '@count' or sum")
        }
        if case .aggregate(let function) = function { return try aggregate(function, resolved, path) }
        guard position == path.components.count, end == position else {
            throw QuerySyntaxError(
                offset: path.offset, message: "'@count' must follow a collection, at the end of the path")
        }
        return BoundOperand(.count(resolved.path), .scalar(.int), "the count of \(text)")
    }

    private func aggregate(
        _ function: MartletEngine.Predicate.Aggregate, _ resolved: BoundPath, _ path: QuerySyntax.Path
    ) throws(QuerySyntaxError) -> BoundOperand {
        let text = "'\(resolved.path.text)'"
        let kind = resolved.element.map(ComparedKind.init)
        guard let element = resolved.element, element.target == nil, kind != .any,
            !function.isArithmetic || kind == .number || kind == .decimal
        else {
            throw QuerySyntaxError(
                offset: path.offset,
                message: "\(text) has no \(function.isArithmetic ? "sum or average" : "minimum or maximum")")
        }
        let isWhole = function == .sum && !element.isFloating
        let type: ElementType = function.isArithmetic && kind == .number ? .scalar(isWhole ? .int64 : .double) : element
        return BoundOperand(.aggregate(function, resolved.path), type, "the \(function.rawValue) of \(text)")
    }

    private func kind(
        _ resolved: BoundPath, _ path: QuerySyntax.Path, isAtEnd: Bool
    ) throws(QuerySyntaxError) -> BoundOperand {
        let text = "'\(resolved.path.text)'"
        guard isAtEnd, resolved.element == .scalar(.any) else {
            throw QuerySyntaxError(
                offset: path.offset,
                message: "'@type' must follow an 'AnyRealmValue', at the end of the path, and \(text) is "
                    + "'\(resolved.typeDescription)'")
        }
        var operand = BoundOperand(.kind(resolved.path), .scalar(.string), "the kind of \(text)")
        operand.isPlural = resolved.collectionEnd != nil
        return operand
    }

    // MARK: Key paths

    func resolve(_ path: QuerySyntax.Path, _ scope: Scope) throws(QuerySyntaxError) -> BoundPath {
        guard path.variable == scope.variable else {
            throw QuerySyntaxError(offset: path.offset, message: "there is no variable '$\(path.variable ?? "")' here")
        }
        let components = PropertyPath(components: path.components.map(\.0))
        switch scope.start {
        case .values(let element):
            guard components.components.isEmpty else {
                throw QuerySyntaxError(offset: path.offset, message: "values of a collection have no properties")
            }
            return BoundPath(value: element)
        case .rows(let table):
            do {
                return BoundPath(try ResolvedPath(components, from: table, in: schema), components, table, schema)
            } catch {
                let offset = path.components[min(error.position, path.components.count - 1)].1
                let known = schema[error.type].map { type in type.type.properties.map { "'\($0.name)'" } } ?? []
                let list = known.isEmpty ? "" : "; it has \(known.prefix(12).joined(separator: ", "))"
                throw QuerySyntaxError(
                    offset: offset,
                    message:
                        "'\(error.type)' has no property '\(error.name)'\(list)\(known.count > 12 ? " and others" : "")"
                )
            }
        }
    }
}
