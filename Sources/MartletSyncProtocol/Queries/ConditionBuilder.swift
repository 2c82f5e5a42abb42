package import MartletEngine
package import MartletValues

/// Converts a query to the condition of a subscription.
package struct ConditionBuilder {
    private let type: Int
    private let schema: AgreedSchema
    private let primaryKey: (_ type: String, ObjectKey) throws -> SQLValue?
    // The greatest nesting depth of a predicate. The limit prevents a stack overflow. The engine has the same limit.
    private static let greatestDepth = 200

    /// - Parameters:
    ///   - type: the number of the queried type.
    ///   - primaryKey: returns the primary key of an object in the file of the client; nil if there is no such object.
    package init(
        type: Int, schema: AgreedSchema, primaryKey: @escaping (_ type: String, ObjectKey) throws -> SQLValue?
    ) {
        self.type = type
        self.schema = schema
        self.primaryKey = primaryKey
    }

    /// Returns the canonical condition of a query. The sort order is ignored.
    ///
    /// - Throws: `UnsupportedQuery`, which names the part that a subscription cannot contain; errors of `primaryKey`.
    package func condition(_ plan: QueryPlan) throws -> SubscriptionCondition {
        if plan.source != nil {
            throw UnsupportedQuery(
                "the results are elements of a collection or linking objects; subscribe to results of "
                    + "'realm.objects(…)' with a condition")
        }
        var parts = try plan.predicate.map { [try condition($0)] } ?? []
        for stage in plan.stages {
            switch stage {
            case .filter(let predicate): parts.append(try condition(predicate))
            case .sort: continue
            case .distinct:
                throw UnsupportedQuery(
                    "a subscription cannot contain 'distinct'; apply it to the subscribed results instead")
            case .limit:
                throw UnsupportedQuery(
                    "a subscription cannot contain 'limit'; apply it to the subscribed results instead")
            }
        }
        let conjunction = SubscriptionCondition.and(parts)
        try conjunction.check()
        return conjunction
    }

    /// Returns the canonical condition of a predicate, without checking the size of the condition.
    package func condition(_ predicate: Predicate) throws -> SubscriptionCondition {
        try condition(predicate, depth: 0)
    }

    private func condition(_ predicate: Predicate, depth: Int) throws -> SubscriptionCondition {
        guard depth < Self.greatestDepth else { throw UnsupportedQuery.tooLarge(ConditionLimits()) }
        switch predicate {
        case .constant(let value): return .constant(value)
        case .and(let parts): return .and(try parts.map { try condition($0, depth: depth + 1) })
        case .or(let parts): return .or(try parts.map { try condition($0, depth: depth + 1) })
        case .not(let part): return try condition(part, depth: depth + 1).negated
        case .someNot(let part): return try negatedForSomeElement(part, depth)
        case .comparison(let left, let comparison, let right): return try self.comparison(left, comparison, right)
        case .contained(let operand, let values, let options): return try contained(operand, values, options)
        case .range(let operand, let lower, let upper, let includesUpper):
            return .and([
                try comparison(operand, .greaterOrEqual, lower),
                try comparison(operand, includesUpper ? .lessOrEqual : .less, upper),
            ])
        case .text(let operand, let match, let pattern, let options): return try text(operand, match, pattern, options)
        case .isRow(let path, let keys): return try isRow(path, keys)
        case .element, .exists, .fullText: throw Self.refusal(of: predicate)
        }
    }

    private static func refusal(of predicate: Predicate) -> UnsupportedQuery {
        switch predicate {
        case .element:
            UnsupportedQuery(
                "the condition that an object is an element of a collection of another object cannot be part of a "
                    + "subscription; compare a property of the queried type")
        case .fullText(let path, _):
            UnsupportedQuery(
                "a full-text search in '\(path.text)' cannot be part of a subscription; subscribe to more objects, and "
                    + "search among them")
        default:
            UnsupportedQuery(
                "a condition on several properties of the same element cannot be part of a subscription; compare a "
                    + "property of the queried type")
        }
    }

    // `someNot` means that some element of a collection does not satisfy the predicate. A condition cannot express
    // this. If the predicate tests no collection, `someNot` is the negation of the predicate.
    private func negatedForSomeElement(_ predicate: Predicate, _ depth: Int) throws -> SubscriptionCondition {
        let negatable = try condition(predicate, depth: depth + 1)
        try negatable.forEachTest { test, _ in
            guard test.testsElements else { return }
            throw UnsupportedQuery(
                "'ALL' and the condition that an element differs cannot be part of a subscription; write that the "
                    + "collection does not contain a value, as in 'NONE tags == \"a\"'")
        }
        return negatable.negated
    }

    // MARK: Comparisons

    private func comparison(
        _ left: Predicate.Operand, _ comparison: Predicate.Comparison, _ right: Predicate.Operand
    ) throws -> SubscriptionCondition {
        if comparison == .notEqual { return try notEqual(left, right) }
        switch (left, right) {
        case (.value(let left), .value(let right)): return try constants(left, comparison, right)
        case (.value(let value), _): return try self.comparison(right, comparison.flipped, .value(value))
        case (_, .value(.null)):
            guard comparison == .equal else { return .constant(false) }
            let path = try path(left)
            let test: ConditionTest = path.isCollection ? .containsNil(path.operand) : .isNil(path.operand)
            return .test(test, isNegated: false)
        case (_, .value(let value)): return try compared(path(left), comparison, value)
        default: return try compared(path(left), comparison.condition, path(right))
        }
    }

    private func notEqual(_ left: Predicate.Operand, _ right: Predicate.Operand) throws -> SubscriptionCondition {
        for operand in [left, right] {
            if case .path(let path) = operand, try self.path(path).isCollection {
                throw UnsupportedQuery(
                    "'\(path.text)' is compared with '!=', which asks for an element that differs and cannot be part of "
                        + "a subscription; write that it does not contain the value, as in 'NONE \(path.text) == …'")
            }
        }
        return try comparison(left, .equal, right).negated
    }

    private func compared(
        _ path: ConditionPath, _ comparison: Predicate.Comparison, _ value: SQLValue
    ) throws -> SubscriptionCondition {
        let literal = ConditionLiteral(operand: path.operand, value: value, name: path.name)
        if comparison == .equal { return equality(path, [try literal.equalValue()].compactMap { $0 }) }
        guard !path.isCollection else { throw UnsupportedQuery.unordered(path.name) }
        return try literal.condition(comparison.condition)
    }

    private func compared(
        _ left: ConditionPath, _ comparison: ConditionComparison, _ right: ConditionPath
    ) throws -> SubscriptionCondition {
        let kinds: Set = [left.operand.kind, right.operand.kind]
        let isComparable =
            kinds.count == 1 && kinds.isDisjoint(with: [.any, .object]) || kinds == [.integer, .floating]
        guard isComparable, !left.isCollection, !right.isCollection else {
            throw UnsupportedQuery(
                "'\(left.name)' and '\(right.name)' cannot be compared with each other in a subscription; compare single "
                    + "properties of the same type, or each with a value")
        }
        return ConditionTest.compared(left.operand, comparison, right.operand).canonical
    }

    private func equality(_ path: ConditionPath, _ values: [SQLValue]) -> SubscriptionCondition {
        let test: ConditionTest =
            path.isCollection ? .containsAny(path.operand, values) : .isIn(path.operand, values)
        return test.canonical
    }

    private func contained(
        _ operand: Predicate.Operand, _ values: [SQLValue], _ options: Predicate.TextOptions
    ) throws -> SubscriptionCondition {
        let path = try path(operand)
        try checkOptions(options, path.name)
        let present = values.filter { $0 != .null }
        // If the path refers to objects, the values are the row keys of these objects.
        let equal =
            path.target == nil
            ? try present.compactMap { value in
                try ConditionLiteral(operand: path.operand, value: value, name: path.name).equalValue()
            } : try keys(present.compactMap { if case .integer(let key) = $0 { key } else { nil } }, path)
        let isEqual = equality(path, equal)
        guard values.contains(.null) else { return isEqual }
        let isNil: ConditionTest = path.isCollection ? .containsNil(path.operand) : .isNil(path.operand)
        return .or([isEqual, .test(isNil, isNegated: false)])
    }

    private func isRow(_ path: PropertyPath, _ keys: [ObjectKey]) throws -> SubscriptionCondition {
        let found = try self.path(path)
        return equality(found, try self.keys(keys, found))
    }

    // Returns the primary keys of the objects with the given row keys. Leaves out row keys without an object, because
    // no link refers to them.
    private func keys(_ rows: [ObjectKey], _ path: ConditionPath) throws -> [SQLValue] {
        guard let target = path.target else {
            throw UnsupportedQuery(
                "'\(path.name)' is compared with an object without a primary key; compare a property of the object")
        }
        let values = try rows.compactMap { try primaryKey(target, $0) }
        guard values.allSatisfy(path.operand.kind.isCanonical) else { throw UnsupportedQuery.wrongType(path.name) }
        return values
    }

    // Evaluates a comparison of two constants, such as `1 < 2`. Only a query that is written as text can contain such a
    // comparison.
    private func constants(
        _ left: SQLValue, _ comparison: Predicate.Comparison, _ right: SQLValue
    ) throws -> SubscriptionCondition {
        let isNaN = [left, right].contains { if case .real(let number) = $0 { number.isNaN } else { false } }
        if isNaN { return .constant(false) }
        if left == .null || right == .null { return .constant(comparison == .equal && left == right) }
        switch (left, right) {
        case (.integer, .integer), (.integer, .real), (.real, .integer), (.real, .real), (.text, .text), (.blob, .blob):
            let order = ValueOrder.compare(left, right)
            let holds =
                switch comparison {
                case .equal: order == 0
                case .notEqual: order != 0
                case .less: order < 0
                case .lessOrEqual: order <= 0
                case .greater: order > 0
                case .greaterOrEqual: order >= 0
                }
            return .constant(holds)
        default: throw UnsupportedQuery("two values of different types are compared; compare a property with a value")
        }
    }

    // MARK: Texts

    private func text(
        _ operand: Predicate.Operand, _ match: Predicate.TextMatch, _ pattern: Predicate.Operand,
        _ options: Predicate.TextOptions
    ) throws -> SubscriptionCondition {
        let path = try path(operand)
        try checkOptions(options, path.name)
        guard path.operand.kind.isSearchable, !path.isCollection, case .value(let pattern) = pattern else {
            throw UnsupportedQuery(
                "'\(path.name)' is searched for a part of it, which a subscription cannot contain; search a text or data "
                    + "property, for a constant pattern")
        }
        // A pattern of type text matches no data, and a pattern of type data matches no text.
        guard path.operand.kind.isCanonical(pattern) else { return .constant(false) }
        switch match {
        case .equals: return equality(path, [pattern])
        case .contains: return ConditionTest.text(path.operand, .contains, pattern).canonical
        case .begins: return ConditionTest.text(path.operand, .begins, pattern).canonical
        case .ends: return ConditionTest.text(path.operand, .ends, pattern).canonical
        case .like: return ConditionTest.text(path.operand, .like, pattern).canonical
        }
    }

    private func checkOptions(_ options: Predicate.TextOptions, _ name: String) throws {
        if options.isEmpty { return }
        throw UnsupportedQuery(
            "'\(name)' is compared without regard to case or diacritics, which depends on the version of Unicode of "
                + "each machine and cannot be part of a subscription; store a lowercase copy, and compare that")
    }

    // MARK: Operands

    private func path(_ path: PropertyPath) throws(UnsupportedQuery) -> ConditionPath {
        try ConditionPath(path, from: type, in: schema)
    }

    private func path(_ operand: Predicate.Operand) throws(UnsupportedQuery) -> ConditionPath {
        switch operand {
        case .path(let path): return try self.path(path)
        case .count(let path): throw UnsupportedQuery.aggregate(path.text, "its number of elements")
        case .aggregate(let function, let path):
            throw UnsupportedQuery.aggregate(path.text, "the \(function) of its elements")
        case .matching(let path, _): throw UnsupportedQuery.aggregate(path.text, "a count of matching elements")
        case .matchingShared:
            throw UnsupportedQuery(
                "a count of matching elements cannot be part of a subscription; store it in a property")
        case .arithmetic:
            throw UnsupportedQuery("a calculation cannot be part of a subscription; store its result in a property")
        case .outer:
            throw UnsupportedQuery(
                "a subquery cannot be part of a subscription; compare a property of the queried type")
        case .kind(let path):
            throw UnsupportedQuery(
                "the type of the value of '\(path.text)' cannot be part of a subscription; store it in a property")
        case .value:
            throw UnsupportedQuery("a value stands in the place of a property; compare a property with a value")
        }
    }
}

extension Predicate.Comparison {
    /// The comparison in a condition. For `.notEqual` this is `.equal`, and the caller negates the condition.
    fileprivate var condition: ConditionComparison {
        switch self {
        case .equal, .notEqual: .equal
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        }
    }
}
