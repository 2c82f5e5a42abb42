import MartletSQLite

// `distinct` without window functions: the rows are read in the order of the result, and a row is skipped if an earlier
// row has the same values. Reading ends as soon as there are enough members. If an index contains few different values,
// one search finds the first row of each value, and no other rows are read.
extension QueryRunner {
    /// The keys of the first `limit` members, or of all members, in order. Nil if the first stage of the plan is not
    /// `distinct`, or if a later stage filters or sorts.
    func distinctKeys(limit: Int?, _ connection: Connection) throws -> [ObjectKey]? {
        guard plan.isDistinctStream else { return nil }
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.distinctByKey) { return nil }
        #endif
        if let keys = try valuesOfIndex(limit: limit, connection) { return keys }
        var rows = plan
        rows.stages = []
        let usesIndex = try QueryRunner(rows, schema, compiled, rowCount: rowCount).prefersIndex(
            limit: limit == 1 ? 1 : nil, connection)
        var compiler = QueryCompiler(schema)
        let (query, layout) = try compiler.distinctRows(plan, usesIndex: usesIndex)
        try prepareFullText(compiler, connection)
        let statement = try connection.statement(query.sql)
        statement.bind(query.arguments)
        defer { statement.reset() }
        var stages = zip(plan.stages, layout).map { Step($0, $1) }
        var keys: [ObjectKey] = []
        if limit == 0 || stages.contains(where: \.isUsedUp) { return keys }
        rows: while try statement.step() {
            for position in stages.indices where !stages[position].keeps(statement) { continue rows }
            keys.append(statement.integer(0))
            if keys.count == limit || stages.contains(where: \.isUsedUp) { break }
        }
        return keys
    }

    /// The state of a stage while rows are read.
    private enum Step {
        case distinct(ValueGroups, DistinctColumns)
        /// The number of rows to keep, and the number of rows to skip before them.
        case limit(Int, offset: Int)

        init(_ stage: QueryPlan.Stage, _ columns: DistinctColumns) {
            if case .limit(let count, let offset) = stage {
                self = .limit(count, offset: offset)
            } else {
                self = .distinct(ValueGroups(), columns)
            }
        }

        /// True if the stage keeps no further row.
        var isUsedUp: Bool { if case .limit(0, _) = self { true } else { false } }

        /// True if the stage keeps the current row.
        mutating func keeps(_ statement: Statement) -> Bool {
            switch self {
            case .distinct(var groups, let columns):
                for column in columns.missing where statement.integer(column) != 0 { return false }
                // While `self` contains the groups too, each added value would copy them. So `self` gets another case
                // until the row is complete.
                self = .limit(0, offset: 0)
                for column in columns.values { groups.add(statement.column(column).unowned) }
                let isNew = groups.endRow().isNew
                self = .distinct(groups, columns)
                return isNew
            case .limit(let count, let offset):
                if offset > 0 {
                    self = .limit(count, offset: offset - 1)
                    return false
                }
                self = .limit(max(0, count - 1), offset: 0)
                return count > 0
            }
        }
    }

    // MARK: Values of an index

    /// The members of a result that consists of one object for each value of an indexed property. Nil for other plans,
    /// and if there are too many values.
    private func valuesOfIndex(limit: Int?, _ connection: Connection) throws -> [ObjectKey]? {
        let type = schema[plan.table].type
        #if MARTLET_SEEDED_BUGS
            let isOfElements = plan.source != nil && !SeededBug.isOn(.distinctOfWholeIndex)
        #else
            let isOfElements = plan.source != nil
        #endif
        guard !isOfElements, plan.predicate == nil, plan.sort.isEmpty, limit != 1, plan.stages.count == 1,
            case .distinct(let paths) = plan.stages[0], paths.count == 1, paths[0].isIndexed(type),
            let property = paths[0].column(of: type), !property.isLink, !property.element.isFloating,
            let column = schema[plan.table].layout.column(of: property.index)?.name
        else { return nil }
        let layout = schema[plan.table].layout
        // The number of searches is limited, because one search takes as long as reading ten to twenty rows.
        let most = limit == nil ? max(Self.leastValueCount, (rowCount ?? 0) / 64) : Self.leastValueCount
        var keys: [ObjectKey] = []
        let absent = try connection.statement(
            "SELECT \(layout.keyColumn) FROM \(layout.table) WHERE \(column) IS NULL "
                + "ORDER BY \(layout.keyColumn) LIMIT 1")
        if try absent.step() { keys.append(absent.integer(0)) }
        absent.reset()
        let order = "ORDER BY \(column), \(layout.keyColumn) LIMIT 1"
        let first = try connection.statement(
            "SELECT \(layout.keyColumn), \(column) FROM \(layout.table) WHERE \(column) IS NOT NULL \(order)")
        let next = try connection.statement(
            "SELECT \(layout.keyColumn), \(column) FROM \(layout.table) WHERE \(column) > ?1 \(order)")
        defer {
            first.reset()
            next.reset()
        }
        var statement = first
        while try statement.step() {
            if keys.count == most { return nil }
            keys.append(statement.integer(0))
            let value = statement.value(1)
            next.reset()
            next.bind(value, at: 1)
            statement = next
        }
        keys.sort()
        return limit.map { Array(keys.prefix($0)) } ?? keys
    }

    private static let leastValueCount = 256
}

/// The positions of the columns that `distinctRows` selects for one stage.
struct DistinctColumns {
    /// Columns that are true if a link of a path is nil.
    var missing: Range<Int>
    var values: Range<Int>
}

extension QueryPlan {
    /// True if the first stage is `distinct`, and every further stage is `distinct` or a limit.
    package var isDistinctStream: Bool {
        guard case .distinct? = stages.first else { return false }
        return stages.allSatisfy {
            switch $0 {
            case .distinct, .limit: true
            case .filter, .sort: false
            }
        }
    }
}

extension QueryCompiler {
    /// Selects the keys of the rows of a plan before its stages, in order. The other columns contain the values that
    /// the stages compare. `layout` contains the positions of the columns of each stage.
    mutating func distinctRows(
        _ plan: QueryPlan, usesIndex: Bool
    ) throws -> (query: Query, layout: [DistinctColumns]) {
        var columns: [String] = []
        var layout: [DistinctColumns] = []
        for stage in plan.stages {
            guard case .distinct(let paths) = stage else {
                layout.append(DistinctColumns(missing: 0..<0, values: 0..<0))
                continue
            }
            let missing = try paths.flatMap { try missingLinks($0, plan.table) }
            let values = try paths.flatMap { try distinction($0, plan.table) }
            let start = columns.count + 1
            layout.append(
                DistinctColumns(
                    missing: start..<(start + missing.count),
                    values: (start + missing.count)..<(start + missing.count + values.count)))
            columns += missing + values
        }
        return (try rows(plan, with: columns, usesIndex: usesIndex), layout)
    }

    /// Selects the keys and the given columns of the rows of a plan before its stages, in order. In `columns`, the rows
    /// of the plan have the alias `t`.
    mutating func rows(_ plan: QueryPlan, with columns: [String], usesIndex: Bool) throws -> Query {
        let rows = rows(plan)
        let condition = try condition(plan)
        var order = try order(plan.sort, plan.table) + [rows.position]
        // SQLite cannot read rows in the order of an expression such as `+key`. So it finds the rows with an index.
        if usesIndex { order = order.map { "+" + $0 } }
        return finish(
            "SELECT \(([rows.key] + columns).joined(separator: ", ")) FROM \(rows.tables)\(condition) "
                + "ORDER BY \(order.joined(separator: ", "))")
    }
}
