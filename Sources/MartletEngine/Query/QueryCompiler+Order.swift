import MartletSQLite
import MartletValues

extension PropertySchema {
    /// The sort values of a row for this property, computed from its stored value. They equal the values that SQL
    /// computes for the expressions of `QueryCompiler.sortExpressions`.
    func sortValues(_ value: SQLValue) -> [SQLValue] {
        switch element {
        case .scalar(.any): return [AnyValue.sortKey(value)]
        case .scalar(.decimal128):
            if value == .null { return [.null, .null] }
            return [.integer(value == .blob(DecimalNumber.nan.bytes) ? 0 : 1), value]
        default: break
        }
        guard element.isFloating else { return [value] }
        guard case .real(let number) = FloatingSpecials.decodedElement(value) else { return [value, .integer(0)] }
        return number.isNaN ? [.null, .integer(1)] : [.real(number == 0 ? 0 : number), .integer(0)]
    }
}

// Sort and distinct expressions.
extension QueryCompiler {
    /// The SQL expressions that a sort term adds to `ORDER BY`. In ascending order, absent values come first, then NaN,
    /// then the other values, and last the rows for which a link of the path is nil.
    mutating func sortExpressions(_ path: PropertyPath, _ table: TableID) throws -> [String] {
        let term = try term(.path(path), .row(table, "t"))
        guard term.kind != .row || path.components.isEmpty else {
            throw QueryFailure("'\(path.text)' is an object, and objects have no order: sort by one of its properties")
        }
        return try missingLinks(path, table) + valueExpressions(term, path)
    }

    /// For each sort expression of a plan, true if it is ascending.
    static func directions(_ plan: QueryPlan, _ schema: DatabaseSchema) -> [Bool] {
        var compiler = QueryCompiler(schema)
        return plan.sort.flatMap { term in
            let count = (try? compiler.sortExpressions(term.path, plan.table).count) ?? 1
            return [Bool](repeating: term.ascending, count: count)
        }
    }

    /// The SQL expressions by which `distinct` compares the values at the end of a path.
    mutating func distinction(_ path: PropertyPath, _ table: TableID) throws -> [String] {
        valueExpressions(try term(.path(path), .row(table, "t")), path)
    }

    /// Returns one condition, which is true for the rows for which a link of the path is nil. Returns an empty array if
    /// the path has no links.
    mutating func missingLinks(_ path: PropertyPath, _ table: TableID) throws -> [String] {
        let resolved = try ResolvedPath(path, from: table, in: schema)
        guard let end = resolved.end, !resolved.steps.isEmpty else { return [] }
        return ["(\(try rowKey(resolved, end.table, "t")) IS NULL)"]
    }

    // A floating-point NaN is stored as NULL, so a second expression distinguishes it from nil. Equal `AnyRealmValue`
    // values can have different stored forms, so they are compared by their sort keys.
    private func valueExpressions(_ term: QueryTerm, _ path: PropertyPath) -> [String] {
        if term.kind == .any { return ["martlet_sort_key(\(term.sql))"] }
        if term.kind == .decimal { return ["(\(term.sql) <> \(DecimalNumber.nanLiteral))", term.sql] }
        guard let nanCondition = term.nanCondition else { return [term.sql] }
        // For a column of the row itself, a test for NULL avoids most calls of the function in `nanCondition`.
        let isInRow = path.components.count == 1
        return [term.sql, isInRow ? "CASE WHEN \(term.sql) IS NULL THEN \(nanCondition) ELSE 0 END" : nanCondition]
    }
}
