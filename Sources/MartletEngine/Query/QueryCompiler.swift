package import MartletSQLite

/// Turns plans into SQL text with bound parameters. The same shape gives the same text, so statements are found again.
package struct QueryCompiler {
    let schema: DatabaseSchema
    private var arguments: [SQLValue] = []
    private var aliases = 0

    package struct Query: Sendable, Equatable {
        package let sql: String
        package let arguments: [SQLValue]
    }

    package init(_ schema: DatabaseSchema) { self.schema = schema }

    // MARK: Whole queries

    /// Keys in order.
    package mutating func keys(_ plan: QueryPlan, limit: Int? = nil) throws -> Query {
        let table = schema[plan.table]
        let condition = try plan.predicate.map { " WHERE " + (try compile($0, plan.table, "t")) } ?? ""
        let order = try plan.sort.map { try sortExpression($0.path, plan.table) + ($0.ascending ? "" : " DESC") }
        let key = "t.\(table.layout.keyColumn)"
        let limitClause = limit.map { " LIMIT \($0)" } ?? ""
        return finish(
            "SELECT \(key) FROM \(table.layout.table) t\(condition) "
                + "ORDER BY \((order + [key]).joined(separator: ", "))\(limitClause)")
    }

    package mutating func count(_ plan: QueryPlan) throws -> Query {
        let condition = try plan.predicate.map { " WHERE " + (try compile($0, plan.table, "t")) } ?? ""
        return finish("SELECT count(*) FROM \(schema[plan.table].layout.table) t\(condition)")
    }

    package mutating func aggregate(_ function: Predicate.Aggregate, _ path: PropertyPath, _ plan: QueryPlan) throws
        -> Query
    {
        let value = try expression(path, plan.table, "t")
        let condition = try plan.predicate.map { " WHERE " + (try compile($0, plan.table, "t")) } ?? ""
        return finish("SELECT \(function.rawValue)(\(value)) FROM \(schema[plan.table].layout.table) t\(condition)")
    }

    /// Those of `keys` that match, each with its sort values. Parameters for the keys come first.
    package mutating func candidates(_ plan: QueryPlan, keyCount: Int) throws -> Query {
        let table = schema[plan.table]
        let key = "t.\(table.layout.keyColumn)"
        aliases = 0
        let marks = (0..<keyCount).map { "?\($0 + 1)" }.joined(separator: ", ")
        arguments = [SQLValue](repeating: .null, count: keyCount)
        let values = try plan.sort.map { try sortExpression($0.path, plan.table) }
        let condition = try plan.predicate.map { " AND (" + (try compile($0, plan.table, "t")) + ")" } ?? ""
        return finish(
            "SELECT \(([key] + values).joined(separator: ", ")) FROM \(table.layout.table) t "
                + "WHERE \(key) IN (\(marks))\(condition)")
    }

    private func finish(_ sql: String) -> Query { Query(sql: sql, arguments: arguments) }

    mutating func bind(_ value: SQLValue) -> String {
        arguments.append(value)
        return "?\(arguments.count)"
    }

    mutating func alias() -> String {
        aliases += 1
        return "t\(aliases)"
    }

    // MARK: Conditions

    private mutating func compile(_ predicate: Predicate, _ table: TableID, _ alias: String) throws -> String {
        func here(_ operand: Predicate.Operand) -> ScopedOperand { ScopedOperand(operand, table, alias) }
        switch predicate {
        case .constant(let value): return value ? "1" : "0"
        case .and(let parts): return try joined(parts[...], " AND ", "1", table, alias)
        case .or(let parts): return try joined(parts[...], " OR ", "0", table, alias)
        case .not(let part): return "(\(try compile(part, table, alias))) IS NOT TRUE"
        case .comparison(let left, let comparison, let right):
            return try any([here(left), here(right)], comparison) { compiler, operands in
                try compiler.comparison(operands[0], comparison, operands[1])
            }
        case .contained(let operand, let values):
            return try any([here(operand)]) { compiler, operands in try compiler.contained(operands[0], values) }
        case .range(let operand, let lower, let upper, let includesUpper):
            return try any([here(operand)]) { compiler, operands in
                let text = try compiler.operand(operands[0])
                let (low, high) = (compiler.bind(lower), compiler.bind(upper))
                return "(\(text) >= \(low) AND \(text) \(includesUpper ? "<=" : "<") \(high))"
            }
        case .text(let operand, let match, let value, let options):
            return try any([here(operand)]) { compiler, operands in
                try compiler.text(operands[0], match, value, options)
            }
        case .isRow(let path, let keys):
            return try any([here(.path(path))]) { compiler, operands in
                try compiler.contained(operands[0], keys.map(SQLValue.integer))
            }
        case .element(let source, let property, let owner):
            guard let targets = schema[source].layout.collection(of: property).targets else {
                throw QueryFailure("a collection of values cannot be queried")
            }
            let key = "\(alias).\(schema[table].layout.keyColumn)"
            return "\(key) IN (SELECT x.target FROM \(targets) x WHERE x.owner = \(bind(.integer(owner))))"
        }
    }

    // Halves of halves: SQLite limits the depth of an expression, and a chain is as deep as it is long.
    private mutating func joined(
        _ parts: ArraySlice<Predicate>, _ separator: String, _ empty: String, _ table: TableID, _ alias: String
    ) throws -> String {
        guard let first = parts.first else { return empty }
        if parts.count == 1 { return "(\(try compile(first, table, alias)))" }
        let middle = parts.startIndex + parts.count / 2
        let left = try joined(parts[..<middle], separator, empty, table, alias)
        let right = try joined(parts[middle...], separator, empty, table, alias)
        return "(\(left)\(separator)\(right))"
    }

    // A comparison with nil asks for presence; `<>` matches nil; orders with nil are false.
    private mutating func comparison(
        _ left: ScopedOperand, _ comparison: Predicate.Comparison, _ right: ScopedOperand
    ) throws -> String {
        let a = try operand(left)
        if case .value(.null) = right.operand {
            switch comparison {
            case .equal: return try isNil(left, a)
            case .notEqual: return "NOT \(try isNil(left, a))"
            default: return "0"
            }
        }
        if case .value(.real(let number)) = right.operand, number.isNaN { return comparison == .notEqual ? "1" : "0" }
        let b = try operand(right)
        guard comparison == .equal || comparison == .notEqual, case .path = right.operand else {
            return comparison == .notEqual ? "\(a) IS NOT \(b)" : "\(a) \(comparison.rawValue) \(b)"
        }
        // Two absent values are equal, two NaNs are not.
        let bothNil = "(\(try isNil(left, a)) AND \(try isNil(right, b)))"
        let equality = "(\(a) = \(b) OR \(bothNil))"
        return comparison == .equal ? equality : "\(equality) IS NOT TRUE"
    }

    // A stored NaN is NULL in its column and kept beside it: it is present.
    private mutating func isNil(_ operand: ScopedOperand, _ text: String) throws -> String {
        guard case .path(let path) = operand.operand,
            case let resolved = try ResolvedPath(path, from: operand.table, in: schema), let end = resolved.end,
            schema[end.table].type.properties[end.property].element.isFloating
        else { return "(\(text) IS NULL)" }
        let special = try follow(resolved.steps[...], operand.alias, TableLayout.specialColumn)
        return "(\(text) IS NULL AND NOT martlet_special(\(special), \(end.property)))"
    }

    private mutating func contained(_ left: ScopedOperand, _ values: [SQLValue]) throws -> String {
        let text = try operand(left)
        var parts: [String] = []
        if values.contains(.null) { parts.append(try isNil(left, text)) }
        parts += try ValueSet(values).conditions(text, &self)
        return parts.isEmpty ? "0" : "(\(parts.joined(separator: " OR ")))"
    }

    private mutating func text(
        _ left: ScopedOperand, _ match: Predicate.TextMatch, _ value: SQLValue, _ options: Predicate.TextOptions
    ) throws -> String {
        let text = try operand(left)
        // SQLite's 'substr' of an empty blob is NULL.
        if case .text("") = value, [.contains, .begins, .ends].contains(match) { return "\(text) IS NOT NULL" }
        guard options.isEmpty && match != .like else {
            return "martlet_text(\(match.rawValue), \(options.rawValue), \(text), \(bind(value)))"
        }
        let pattern = bind(value)
        switch match {
        case .contains: return "instr(\(text), \(pattern)) > 0"
        case .equals: return "\(text) = \(pattern)"
        case .begins:
            return "substr(CAST(\(text) AS BLOB), 1, length(CAST(\(pattern) AS BLOB))) = CAST(\(pattern) AS BLOB)"
        default: return "martlet_text(\(match.rawValue), 0, \(text), \(pattern))"
        }
    }
}

/// A query that means nothing: a programmer error, reported upstairs.
package struct QueryFailure: Error, Sendable {
    package let message: String
    init(_ message: String) { self.message = message }
}
