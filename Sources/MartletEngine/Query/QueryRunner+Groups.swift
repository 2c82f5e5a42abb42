package import MartletSQLite
import MartletValues

// Groups rows by a property, for sections. If sorting the groups gives the same result as sorting the rows, the rows
// are not sorted.
extension QueryRunner {
    /// The members of a plan, grouped by the values of a property. Nil if the plan has stages, or if the path does not
    /// lead to a property through to-one links.
    package func groups(by path: PropertyPath, _ connection: Connection) throws -> GroupedRows? {
        guard plan.stages.isEmpty, let element = groupedElement(path) else { return nil }
        var rows = plan
        if plan.isSorted(onlyBy: path) {
            let type = schema[plan.table].type
            // An index contains only the property and the key of each row, so reading it is faster than reading the
            // table. It cannot be used for floating-point properties, because it does not distinguish NaN from nil.
            let readsIndex = plan.predicate == nil && path.isIndexed(type) && !element.isFloating
            rows.sort = readsIndex ? [SortTerm(path, ascending: true)] : []
        }
        let usesIndex = try QueryRunner(rows, schema, compiled, rowCount: rowCount).prefersIndex(
            limit: nil, connection)
        var compiler = QueryCompiler(schema)
        var columns = try compiler.sortExpressions(path, plan.table)
        let sortCount = columns.count
        // The stored value of a floating-point number is the last sort expression but one, because the last is true for
        // NaN. The sort key of an `AnyRealmValue` is not its stored value, so the stored value is selected too.
        var valueColumn = element.isFloating ? sortCount - 1 : sortCount
        if element == .scalar(.any) {
            columns.append(try compiler.term(.path(path), .row(plan.table, "t")).sql)
            valueColumn = columns.count
        }
        let query = try compiler.rows(rows, with: columns, usesIndex: usesIndex)
        try prepareFullText(compiler, connection)
        let statement = try connection.statement(query.sql)
        statement.bind(query.arguments)
        defer { statement.reset() }
        var groups = ValueGroups()
        var grouped = GroupedRows(isSortedByGroup: plan.isSorted(onlyBy: path))
        while try statement.step() {
            for column in 1...columns.count { groups.add(statement.column(column).unowned) }
            grouped.append(statement.integer(0), to: groups.endRow().group) {
                (statement.value(valueColumn), (1...sortCount).map { statement.value($0) })
            }
        }
        grouped.sort(ascending: plan.sort.first?.ascending ?? true)
        return grouped
    }

    // The type of the values at the end of a path through to-one links.
    private func groupedElement(_ path: PropertyPath) -> ElementType? {
        guard let resolved = try? ResolvedPath(path, from: plan.table, in: schema), let end = resolved.end,
            resolved.part == .whole, resolved.steps.allSatisfy({ if case .link = $0 { true } else { false } })
        else { return nil }
        let property = schema[end.table].type.properties[end.property]
        return property.isColumn && !property.isLink ? property.element : nil
    }
}

extension QueryPlan {
    /// True if the members are sorted by one path, and then by their keys.
    func isSorted(onlyBy path: PropertyPath) -> Bool {
        source == nil && stages.isEmpty && sort.count == 1 && sort[0].path == path
    }
}
