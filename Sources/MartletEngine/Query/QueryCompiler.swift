package import MartletSQLite

/// Turns plans into SQL text with bound parameters. The same shape gives the same text, so statements are found again.
package struct QueryCompiler {
    private let schema: DatabaseSchema
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
        let order = try plan.sort.map { try expression($0.path, plan.table, "t") + ($0.ascending ? "" : " DESC") }
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

    package mutating func aggregate(_ function: Predicate.Aggregate, _ path: PropertyPath, _ plan: QueryPlan) throws -> Query {
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
        let values = try plan.sort.map { try expression($0.path, plan.table, "t") }
        let condition = try plan.predicate.map { " AND (" + (try compile($0, plan.table, "t")) + ")" } ?? ""
        return finish(
            "SELECT \(([key] + values).joined(separator: ", ")) FROM \(table.layout.table) t "
                + "WHERE \(key) IN (\(marks))\(condition)")
    }

    private func finish(_ sql: String) -> Query { Query(sql: sql, arguments: arguments) }

    private mutating func bind(_ value: SQLValue) -> String {
        arguments.append(value)
        return "?\(arguments.count)"
    }

    private mutating func alias() -> String {
        aliases += 1
        return "t\(aliases)"
    }

    // MARK: Conditions

    private mutating func compile(_ predicate: Predicate, _ table: TableID, _ alias: String) throws -> String {
        switch predicate {
        case .constant(let value): return value ? "1" : "0"
        case .and(let parts): return try joined(parts, " AND ", "1", table, alias)
        case .or(let parts): return try joined(parts, " OR ", "0", table, alias)
        case .not(let part): return "(\(try compile(part, table, alias))) IS NOT TRUE"
        case .comparison(let left, let comparison, let right):
            return try any([left, right], table, alias) { compiler, operands, table, alias in
                try compiler.comparison(operands[0], comparison, operands[1], table, alias)
            }
        case .contained(let operand, let values):
            return try any([operand], table, alias) { compiler, operands, table, alias in
                try compiler.contained(operands[0], values, table, alias)
            }
        case .range(let operand, let lower, let upper, let includesUpper):
            return try any([operand], table, alias) { compiler, operands, table, alias in
                let text = try compiler.operand(operands[0], table, alias)
                let (low, high) = (compiler.bind(lower), compiler.bind(upper))
                return "(\(text) >= \(low) AND \(text) \(includesUpper ? "<=" : "<") \(high))"
            }
        case .text(let operand, let match, let value, let options):
            return try any([operand], table, alias) { compiler, operands, table, alias in
                try compiler.text(operands[0], match, value, options, table, alias)
            }
        case .isRow(let path, let keys):
            return try any([.path(path)], table, alias) { compiler, operands, table, alias in
                try compiler.contained(operands[0], keys.map(SQLValue.integer), table, alias)
            }
        case .element(let source, let property, let owner):
            guard let targets = schema[source].layout.collection(of: property).targets else {
                throw QueryFailure("a collection of values cannot be queried")
            }
            let key = "\(alias).\(schema[table].layout.keyColumn)"
            return "\(key) IN (SELECT x.target FROM \(targets) x WHERE x.owner = \(bind(.integer(owner))))"
        }
    }

    private mutating func joined(
        _ parts: [Predicate], _ separator: String, _ empty: String, _ table: TableID, _ alias: String
    ) throws -> String {
        guard !parts.isEmpty else { return empty }
        var texts: [String] = []
        for part in parts { texts.append("(\(try compile(part, table, alias)))") }
        return texts.joined(separator: separator)
    }

    // A comparison with nil asks for presence; `<>` matches nil; orders with nil are false.
    private mutating func comparison(
        _ left: Predicate.Operand, _ comparison: Predicate.Comparison, _ right: Predicate.Operand,
        _ table: TableID, _ alias: String
    ) throws -> String {
        let a = try operand(left, table, alias)
        if case .value(.null) = right {
            switch comparison {
            case .equal: return try presence(left, a, table, alias, isNil: true)
            case .notEqual: return try presence(left, a, table, alias, isNil: false)
            default: return "0"
            }
        }
        if case .value(.real(let number)) = right, number.isNaN { return comparison == .notEqual ? "1" : "0" }
        let b = try operand(right, table, alias)
        if comparison == .notEqual { return "\(a) IS NOT \(b)" }
        return "\(a) \(comparison.rawValue) \(b)"
    }

    // A stored NaN is NULL in its column and kept beside it: it is present.
    private func presence(
        _ left: Predicate.Operand, _ text: String, _ table: TableID, _ alias: String, isNil: Bool
    ) throws -> String {
        if case .path(let path) = left, path.names.count == 1, let property = schema[table].type[path.names[0]],
            property.element.isFloating
        {
            let isNaN = "martlet_special(\(alias).\(TableLayout.specialColumn), \(property.index))"
            return isNil ? "(\(text) IS NULL AND NOT \(isNaN))" : "(\(text) IS NOT NULL OR \(isNaN))"
        }
        return isNil ? "\(text) IS NULL" : "\(text) IS NOT NULL"
    }

    private mutating func contained(
        _ left: Predicate.Operand, _ values: [SQLValue], _ table: TableID, _ alias: String
    ) throws -> String {
        let text = try operand(left, table, alias)
        let present = values.filter { $0 != .null }
        var parts: [String] = []
        if present.count < values.count { parts.append(try presence(left, text, table, alias, isNil: true)) }
        if !present.isEmpty {
            var marks: [String] = []
            for value in present { marks.append(bind(value)) }
            parts.append("\(text) IN (\(marks.joined(separator: ", ")))")
        }
        return parts.isEmpty ? "0" : "(\(parts.joined(separator: " OR ")))"
    }

    private mutating func text(
        _ left: Predicate.Operand, _ match: Predicate.TextMatch, _ value: SQLValue, _ options: Predicate.TextOptions,
        _ table: TableID, _ alias: String
    ) throws -> String {
        let text = try operand(left, table, alias)
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

    // MARK: Operands and paths

    private mutating func operand(_ operand: Predicate.Operand, _ table: TableID, _ alias: String) throws -> String {
        switch operand {
        case .value(let value): return bind(value)
        case .path(let path): return try expression(path, table, alias)
        case .count(let path): return try CollectionSQL(schema).count(try ResolvedPath(path, from: table, in: schema), alias)
        case .aggregate(let function, let path):
            return try CollectionSQL(schema).aggregate(function, try ResolvedPath(path, from: table, in: schema), alias)
        }
    }

    /// The value at the end of a path of to-one links; nil links make it NULL.
    private mutating func expression(_ path: PropertyPath, _ table: TableID, _ alias: String) throws -> String {
        let resolved = try ResolvedPath(path, from: table, in: schema)
        return try expression(resolved.steps[...], resolved.end, table, alias)
    }

    private mutating func expression(
        _ steps: ArraySlice<PathStep>, _ end: (table: TableID, property: PropertyIndex)?, _ table: TableID, _ alias: String
    ) throws -> String {
        guard let step = steps.first else {
            guard let end else { return "\(alias).\(schema[table].layout.keyColumn)" }
            guard let column = schema[table].layout.column(of: end.property) else {
                throw QueryFailure("'\(schema[table].type.properties[end.property].name)' is a collection: use '.count' or an element path")
            }
            return "\(alias).\(column.name)"
        }
        guard case .link(_, let property, let target) = step, let column = schema[table].layout.column(of: property) else {
            throw QueryFailure("a path through a collection cannot be used here")
        }
        let inner = self.alias()
        let value = try expression(steps.dropFirst(), end, target, inner)
        let layout = schema[target].layout
        return "(SELECT \(value) FROM \(layout.table) \(inner) WHERE \(inner).\(layout.keyColumn) = \(alias).\(column.name))"
    }

    // MARK: Any

    private typealias Leaf = (inout QueryCompiler, [Predicate.Operand], TableID, String) throws -> String

    /// Writes a condition whose paths may pass through a collection: some element must match.
    private mutating func any(
        _ operands: [Predicate.Operand], _ table: TableID, _ alias: String, _ leaf: Leaf
    ) throws -> String {
        for (position, operand) in operands.enumerated() {
            guard case .path(let path) = operand else { continue }
            let resolved = try ResolvedPath(path, from: table, in: schema)
            if let offset = resolved.steps.firstIndex(where: { if case .link = $0 { false } else { true } }) {
                return try anyElement(resolved, offset, path, position, operands, table, alias, leaf)
            }
            if let end = resolved.end, let element = ResolvedPath.step(schema[end.table].type.properties[end.property], of: end.table, in: schema), schema[end.table].layout.column(of: end.property) == nil {
                var whole = resolved
                whole.steps.append(element)
                whole.end = nil
                return try anyElement(whole, whole.steps.count - 1, path, position, operands, table, alias, leaf)
            }
            if let end = resolved.end, schema[end.table].layout.column(of: end.property) == nil {
                return try anyScalar(resolved, end, position, operands, table, alias)
            }
        }
        return try leaf(&self, operands, table, alias)
    }

    private mutating func anyElement(
        _ resolved: ResolvedPath, _ offset: Int, _ path: PropertyPath, _ position: Int, _ operands: [Predicate.Operand],
        _ table: TableID, _ alias: String, _ leaf: Leaf
    ) throws -> String {
        let step = resolved.steps[offset]
        let owner = try expression(resolved.steps[..<offset], nil, table, alias, keyOf: step.source)
        let inner = self.alias()
        var rest = operands
        rest[position] = .path(PropertyPath(Array(path.names.dropFirst(offset + 1))))
        let condition = try any(rest, step.target, inner, leaf)
        return "\(owner) IN (\(CollectionSQL(schema).owners(step, inner)) AND (\(condition)))"
    }

    /// The key of the row at the end of to-one steps.
    private mutating func expression(
        _ steps: ArraySlice<PathStep>, _ end: (table: TableID, property: PropertyIndex)?, _ table: TableID, _ alias: String,
        keyOf target: TableID
    ) throws -> String {
        guard case .link(let source, let property, _)? = steps.last else {
            return "\(alias).\(schema[table].layout.keyColumn)"
        }
        return try expression(steps.dropLast(), (source, property), table, alias)
    }

    private mutating func anyScalar(
        _ resolved: ResolvedPath, _ end: (table: TableID, property: PropertyIndex), _ position: Int,
        _ operands: [Predicate.Operand], _ table: TableID, _ alias: String
    ) throws -> String {
        let owner = try expression(resolved.steps[...], nil, table, alias, keyOf: end.table)
        guard operands.count == 2, case .value(let value) = operands[1 - position] else {
            throw QueryFailure("elements of a collection of values can be compared with a value only")
        }
        let chunks = schema[end.table].layout.collection(of: end.property).chunks
        return "\(owner) IN (SELECT c.owner FROM \(chunks) c WHERE martlet_contains(c.elements, c.count, \(bind(value))))"
    }
}

/// A query that means nothing: a programmer error, reported upstairs.
package struct QueryFailure: Error, Sendable {
    package let message: String
    init(_ message: String) { self.message = message }
}
