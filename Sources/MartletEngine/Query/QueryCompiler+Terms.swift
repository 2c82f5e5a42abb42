import MartletSQLite
import MartletValues

extension QueryCompiler {
    typealias Leaf = (inout QueryCompiler, [QueryTerm]) throws -> String

    /// Compiles a condition whose operands may have paths through collections. The condition is true if the collections
    /// have some elements that satisfy it.
    ///
    /// - Parameter includesNilEntries: false to omit map entries without an object, because the condition cannot be
    ///   true for them.
    mutating func terms(
        _ operands: [Predicate.Operand], _ scope: QueryScope, includesNilEntries: Bool = true, _ leaf: Leaf
    ) throws -> String {
        // The operands of an arithmetic expression can be in different collections, or in none. So each operand is
        // compiled separately, and `assembled` combines their terms.
        let leaves = try operands.flatMap(\.leaves).map { try scoped($0, scope) }
        return try forSome(leaves, includesNilEntries: includesNilEntries) { compiler, leaves in
            var terms = try leaves.map { try compiler.term($0.operand, $0.scope) }[...]
            return try leaf(&compiler, operands.map { try $0.assembled(&terms) })
        }
    }

    /// Compiles a condition on some element of each collection that the path of an operand passes through.
    mutating func forSome(
        _ operands: [ScopedOperand], includesNilEntries: Bool,
        _ leaf: (inout QueryCompiler, [ScopedOperand]) throws -> String
    ) throws -> String {
        for (position, scoped) in operands.enumerated() {
            guard let (collection, rest) = try outerCollection(of: scoped) else { continue }
            let nilEntries: NilEntries = includesNilEntries && rest == .path(.itself) ? .asValues : .skipped
            return try someElement(of: collection, scoped.scope, nilEntries) { compiler, element in
                var inside = operands
                inside[position] = ScopedOperand(rest, element)
                return try compiler.forSome(inside, includesNilEntries: includesNilEntries, leaf)
            }
        }
        return try leaf(&self, operands)
    }

    /// An operand with its scope. The scope of an `.outer` operand is the scope of an enclosing condition.
    private func scoped(_ operand: Predicate.Operand, _ scope: QueryScope) throws -> ScopedOperand {
        guard case .outer(let level, let inner) = operand else { return ScopedOperand(operand, scope) }
        guard level >= 1, level <= enclosingScopes.count else {
            throw QueryFailure("a condition refers to an enclosing condition, and there is none")
        }
        return ScopedOperand(inner, enclosingScopes[enclosingScopes.count - level])
    }

    // MARK: Operands

    /// The SQL of an operand whose path does not pass through a collection.
    mutating func term(_ operand: Predicate.Operand, _ scope: QueryScope) throws -> QueryTerm {
        switch operand {
        case .value(let value): return QueryTerm(bind(value), literal: value)
        case .path(let path): return try term(path, scope)
        case .kind(let path): return QueryTerm("martlet_kind(\(try term(path, scope).sql))", .text)
        case .count(let path): return QueryTerm(try count(path, scope), .number)
        case .aggregate(let function, let path): return try aggregate(function, path, scope)
        case .matching(let path, let condition): return QueryTerm(try countOfMatching(path, condition, scope), .number)
        case .matchingShared(let condition):
            let (path, inner) = try sharedCollection(condition, scope)
            return QueryTerm(try countOfMatching(path, inner, scope), .number)
        case .outer:
            let scoped = try scoped(operand, scope)
            return try term(scoped.operand, scoped.scope)
        case .arithmetic:
            var terms = try operand.leaves.map { try term($0, scope) }[...]
            return try operand.assembled(&terms)
        }
    }

    private mutating func term(_ path: PropertyPath, _ scope: QueryScope) throws -> QueryTerm {
        switch scope {
        case .value(let alias, let column, let element):
            guard path.components.isEmpty else {
                throw QueryFailure("'\(path.text)' is applied to values, which have no properties")
            }
            return QueryTerm("\(alias).\(column)", element, nanCondition: "\(alias).nan")
        case .row(let table, let alias):
            return try term(path, ResolvedPath(path, from: table, in: schema), alias, table)
        }
    }

    private mutating func term(
        _ path: PropertyPath, _ resolved: ResolvedPath, _ alias: String, _ table: TableID
    ) throws -> QueryTerm {
        guard let end = resolved.end else {
            guard resolved.steps.isEmpty else { throw QueryFailure.collection(path) }
            return QueryTerm("\(alias).\(schema[table].layout.keyColumn)", .row)
        }
        let property = schema[end.table].type.properties[end.property]
        if case .entry(let key) = resolved.part {
            let entry = self.alias()
            let owner = try rowKey(resolved, end.table, alias)
            let values = values(of: end.table, end.property, entry).restricted(toOwner: owner).and(
                "\(entry).k = \(bind(.text(key)))")
            return QueryTerm(
                values.select("\(entry).v"), property.element,
                nanCondition: "ifnull(\(values.select("\(entry).nan")), 0)")
        }
        guard let column = schema[end.table].layout.column(of: end.property) else {
            throw QueryFailure.collection(path)
        }
        let value = try linkedColumn(resolved, resolved.steps.indices, alias, column.name)
        guard property.element.isFloating else { return QueryTerm(value, property.element) }
        let special = try linkedColumn(resolved, resolved.steps.indices, alias, TableLayout.specialColumn)
        return QueryTerm(value, property.element, nanCondition: "martlet_special(\(special), \(end.property))")
    }

    /// SQL for a column of the row at the end of to-one steps. Its value is NULL if there is no such row.
    private mutating func linkedColumn(
        _ path: ResolvedPath, _ steps: Range<Int>, _ alias: String, _ column: String
    ) throws -> String {
        guard let position = steps.first else { return "\(alias).\(column)" }
        let step = path.steps[position]
        // A link column contains the key of the row, so the row itself is not read.
        if steps.count == 1, case .link(let table, let property, let target) = step,
            column == schema[target].layout.keyColumn, let link = schema[table].layout.column(of: property)
        {
            return "\(alias).\(link.name)"
        }
        let inner = self.alias()
        let value = try linkedColumn(path, steps.dropFirst(), inner, column)
        let layout = schema[step.target].layout
        if case .link(let table, let property, _) = step {
            let link = schema[table].layout.column(of: property)?.name ?? ""
            return
                "(SELECT \(value) FROM \(layout.table) \(inner) WHERE \(inner).\(layout.keyColumn) = \(alias).\(link))"
        }
        guard let key = path.entries[position] else {
            throw QueryFailure("a path through a collection cannot be used here")
        }
        return elements(step, inner, isOwnerKnown: true).restricted(
            toOwner: "\(alias).\(schema[step.source].layout.keyColumn)"
        )
        .and("\(inner)e.k = \(bind(.text(key)))").select(value)
    }

    /// SQL for the key of the row to which the first `stepCount` steps of a path lead. If `stepCount` is nil, this is
    /// the row to which all steps lead.
    mutating func rowKey(
        _ path: ResolvedPath, _ table: TableID, _ alias: String, stepCount: Int? = nil
    ) throws -> String {
        let count = stepCount ?? path.steps.count
        // A link column contains the key of the row, so the row itself is not read.
        if count > 0, case .link(let source, let property, _) = path.steps[count - 1],
            let link = schema[source].layout.column(of: property)
        {
            return try linkedColumn(path, 0..<(count - 1), alias, link.name)
        }
        return try linkedColumn(path, 0..<count, alias, schema[table].layout.keyColumn)
    }
}

extension Predicate.Operand {
    /// Combines the terms of the leaves of this operand into one term. Removes the terms that it uses from the front of
    /// `leaves`.
    fileprivate func assembled(_ leaves: inout ArraySlice<QueryTerm>) throws -> QueryTerm {
        guard case .arithmetic(let left, let sign, let right) = self else { return leaves.removeFirst() }
        let (a, b) = (try left.assembled(&leaves), try right.assembled(&leaves))
        guard a.kind == .number, b.kind == .number else {
            throw QueryFailure("'\(sign.rawValue)' needs integers or floating-point numbers on both sides")
        }
        var result = QueryTerm("(\(a.sql) \(sign.rawValue) \(b.sql))", .number)
        let nanConditions = [a.nanCondition, b.nanCondition].compactMap(\.self)
        if !nanConditions.isEmpty { result.nanCondition = "(\(nanConditions.joined(separator: " OR ")))" }
        return result
    }
}
