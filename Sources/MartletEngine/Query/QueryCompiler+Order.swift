import MartletSQLite

extension PropertySchema {
    /// What a value of this property in a kept row is sorted by, as `QueryCompiler.sortExpressions` has it; nil where a row
    /// does not say.
    func sortValues(_ value: SQLValue) -> [SQLValue]? {
        switch element {
        case .scalar(.any): return [AnyValue.sortKey(value)]
        case .scalar(.decimal128):
            if value == .null { return [.null, .null] }
            return [.integer(value == .blob(DecimalNumber.nan.bytes) ? 0 : 1), value]
        default: break
        }
        guard element.isFloating else { return [value] }
        guard case .real(let number) = FloatingSpecials.number(value) else { return [value, .integer(0)] }
        return number.isNaN ? [.null, .integer(1)] : [.real(number == 0 ? 0 : number), .integer(0)]
    }
}

// What members are sorted by, and what distinguishes them.
extension QueryCompiler {
    /// What a sort term orders by, one expression after the other: rows that a link on the way does not lead on from come
    /// behind all others, then absent values come first, then NaN, then the other values.
    mutating func sortExpressions(_ path: PropertyPath, _ table: TableID) throws -> [String] {
        let term = try term(.path(path), .row(table, "t"))
        guard term.kind != .row || path.components.isEmpty else {
            throw QueryFailure("'\(path.text)' is an object, and objects have no order: sort by one of its properties")
        }
        return try missingLinks(path, table) + value(term, path)
    }

    /// The direction of each expression that a plan orders by.
    static func directions(_ plan: QueryPlan, _ schema: DatabaseSchema) -> [Bool] {
        var compiler = QueryCompiler(schema)
        return plan.sort.flatMap { term in
            let count = (try? compiler.sortExpressions(term.path, plan.table).count) ?? 1
            return [Bool](repeating: term.ascending, count: count)
        }
    }

    /// What distinguishes the values at the end of a path.
    mutating func distinction(_ path: PropertyPath, _ table: TableID) throws -> [String] {
        value(try term(.path(path), .row(table, "t")), path)
    }

    /// A condition that holds for rows that the links of a path do not lead on from; nothing for a path without links.
    mutating func missingLinks(_ path: PropertyPath, _ table: TableID) throws -> [String] {
        let resolved = try ResolvedPath(path, from: table, in: schema)
        guard let end = resolved.end, !resolved.steps.isEmpty else { return [] }
        return ["(\(try rowKey(resolved, end.table, "t")) IS NULL)"]
    }

    // NaN lies in its column as NULL does; values of any type that are equal may be stored in several ways.
    private func value(_ term: QueryTerm, _ path: PropertyPath) -> [String] {
        if term.kind == .any { return ["martlet_sort_key(\(term.sql))"] }
        if term.kind == .decimal { return ["(\(term.sql) <> \(DecimalNumber.nanLiteral))", term.sql] }
        guard let isNaN = term.isNaN else { return [term.sql] }
        // What is in the row costs less to look at again than to call a function for.
        let isInRow = path.components.count == 1
        return [term.sql, isInRow ? "CASE WHEN \(term.sql) IS NULL THEN \(isNaN) ELSE 0 END" : isNaN]
    }
}
