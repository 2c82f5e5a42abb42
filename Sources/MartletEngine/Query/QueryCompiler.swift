import MartletSQLite
package import MartletValues

/// Compiles plans to SQL with bound parameters. Plans that differ only in the bound values have equal SQL, so prepared
/// statements are reused.
package struct QueryCompiler {
    let schema: DatabaseSchema
    /// True if the query selects a few rows by their keys. A condition on a collection then tests the elements of these
    /// rows. If false, the condition first finds all matching elements, and then their owners.
    private(set) var selectsRowsByKey = false
    /// True if the compiled query contains a full-text search.
    var searchesFullText = false
    private var arguments: [SQLValue] = []
    private var aliases = 0
    private var depth = 0
    private static let maximumDepth = 200
    /// The scopes of the enclosing conditions, with the outermost first. The operands of a condition can refer to them.
    private(set) var enclosingScopes: [QueryScope] = []
    private var conditionCount = 0
    private var collectionCount = 0
    // The time that SQLite needs to prepare a statement grows with the square of each count. At these limits, the time
    // is about a second.
    private static let greatestConditionCount = 4_000
    private static let greatestCollectionCount = 1_000

    package struct Query: Sendable, Equatable {
        package let sql: String
        package let arguments: [SQLValue]
    }

    package init(_ schema: DatabaseSchema) { self.schema = schema }

    // MARK: Whole queries

    /// Selects the keys of the members in order.
    ///
    /// - Parameters:
    ///   - isReversed: true for the reverse order. The plan then has no stages.
    ///   - usesIndex: true to make SQLite find the rows with an index and then sort them.
    package mutating func keys(
        _ plan: QueryPlan, limit: Int? = nil, isReversed: Bool = false, usesIndex: Bool = false
    ) throws -> Query {
        var range = limit.map { " LIMIT \($0)" } ?? ""
        switch plan.stages.first {
        case nil: break
        case .limit(let count, let offset) where plan.stages.count == 1:
            range = Self.range(limit.map { min($0, count) } ?? count, offset: offset)
        default:
            let ranked = try ranked(plan)
            return finish("SELECT k FROM (\(ranked)) ORDER BY n\(range)")
        }
        let rows = rows(plan)
        let condition = try condition(plan)
        var order = try order(plan.sort, plan.table, isReversed: isReversed)
        order.append(rows.position + (isReversed ? " DESC" : ""))
        // SQLite cannot read rows in the order of an expression such as `+key`. So it finds the rows with an index.
        if usesIndex { order = order.map { "+" + $0 } }
        return finish(
            "SELECT \(rows.key) FROM \(rows.tables)\(condition) ORDER BY \(order.joined(separator: ", "))\(range)")
    }

    private static func range(_ count: Int, offset: Int) -> String { " LIMIT \(count) OFFSET \(offset)" }

    /// Selects the keys of the members in order, each with its position in the source of the plan.
    mutating func positions(_ plan: QueryPlan) throws -> Query {
        let ranked = try ranked(plan)
        return finish("SELECT k, i FROM (\(ranked)) ORDER BY n")
    }

    /// Selects a row if the plan, which has no order, has more than `count` members.
    mutating func row(at count: Int, _ plan: QueryPlan) throws -> Query {
        finish("SELECT 1 FROM \(rows(plan).tables)\(try condition(plan))\(Self.range(1, offset: count))")
    }

    package mutating func count(_ plan: QueryPlan) throws -> Query {
        if let count = countOfLinkingObjects(plan) { return finish(count) }
        let members: String
        switch plan.stages.first {
        case nil: members = try "\(rows(plan).tables)\(condition(plan))"
        // The order does not change the number of rows.
        case .limit(let count, let offset) where plan.stages.count == 1:
            members = try "(SELECT 1 FROM \(rows(plan).tables)\(condition(plan))\(Self.range(count, offset: offset)))"
        default: members = try "(\(ranked(plan)))"
        }
        return finish("SELECT count(*) FROM \(members)")
    }

    /// - Parameter usesWideSum: true to compute sums of whole numbers that exceed 64 bits. This is slower, so the
    ///   caller sets it only after SQLite's own sum has failed.
    /// - Parameter isRequired: true if every row must have a value at the path. A NULL in a row then means that the
    ///   file is damaged.
    package mutating func aggregate(
        _ function: Predicate.Aggregate, _ path: PropertyPath, _ plan: QueryPlan, usesWideSum: Bool = false,
        isRequired: Bool = false
    ) throws -> Query {
        let layout = schema[plan.table].layout
        let term = try term(.path(path), .row(plan.table, "t"))
        let members =
            try plan.stages.isEmpty
            ? "\(rows(plan).tables)\(condition(plan))"
            : "(\(ranked(plan))) p CROSS JOIN \(layout.table) t ON t.\(layout.keyColumn) = p.k"
        if term.kind == .any {
            return finish(Self.extremum(function, term, from: members))
        }
        let aggregate = Self.memberAggregate(function, term, usesWideSum: usesWideSum)
        let checked = Self.checked(aggregate, function, term, usesWideSum: usesWideSum, isRequired: isRequired)
        return finish("SELECT \(checked) FROM \(members)")
    }

    /// Selects which of `keyCount` rows are members of a plan without stages, each with its sort values. The first
    /// `keyCount` parameters are the keys of these rows.
    package mutating func candidates(_ plan: QueryPlan, keyCount: Int) throws -> Query {
        let table = schema[plan.table]
        let key = "t.\(table.layout.keyColumn)"
        aliases = 0
        selectsRowsByKey = true
        let marks = (0..<keyCount).map { "?\($0 + 1)" }.joined(separator: ", ")
        arguments = [SQLValue](repeating: .null, count: keyCount)
        let values = try plan.sort.flatMap { try sortExpressions($0.path, plan.table) }
        let condition = try plan.predicate.map { " AND (\(try compile($0, .row(plan.table, "t"))))" } ?? ""
        return finish(
            "SELECT \(([key] + values).joined(separator: ", ")) FROM \(table.layout.table) t "
                + "WHERE \(key) IN (\(marks))\(condition)")
    }

    // Removes the last arguments if the SQL does not contain their parameters, because SQLite rejects such arguments.
    // They belong to operands of a condition that is always true or always false, so its SQL contains no operands.
    // Only arguments at the end are removed: a search for '?1' also finds '?10', so the search cannot show that an
    // earlier parameter is missing.
    func finish(_ sql: String) -> Query {
        var used = arguments
        while !used.isEmpty, !Self.contains(sql, parameter: used.count) { used.removeLast() }
        return Query(sql: sql, arguments: used)
    }

    // `String.contains` takes longer than compiling the query.
    private static func contains(_ sql: String, parameter: Int) -> Bool {
        let pattern = Array("?\(parameter)".utf8)
        var matched = 0
        for byte in sql.utf8 {
            matched = byte == pattern[matched] ? matched + 1 : byte == pattern[0] ? 1 : 0
            if matched == pattern.count { return true }
        }
        return false
    }

    mutating func bind(_ value: SQLValue) -> String {
        arguments.append(value)
        return "?\(arguments.count)"
    }

    mutating func alias() -> String {
        aliases += 1
        return "t\(aliases)"
    }

    /// Increases the depth of nesting while `body` runs. Throws at the maximum depth, which protects the stack of this
    /// program. SQLite has its own limit.
    mutating func nested<R>(_ body: (inout QueryCompiler) throws -> R) throws -> R {
        guard depth < Self.maximumDepth else { throw QueryFailure.tooLarge("too many conditions are nested") }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    /// Compiles a condition on the elements of a collection. The condition can refer to the owner of the collection.
    mutating func compile(_ condition: Predicate, _ element: QueryScope, within scope: QueryScope) throws -> String {
        enclosingScopes.append(scope)
        defer { enclosingScopes.removeLast() }
        return try compile(condition, element)
    }

    mutating func countCondition() throws {
        conditionCount += 1
        guard conditionCount <= Self.greatestConditionCount else {
            throw QueryFailure.tooLarge("it has more than \(Self.greatestConditionCount) comparisons")
        }
    }

    mutating func countCollection() throws {
        collectionCount += 1
        guard collectionCount <= Self.greatestCollectionCount else {
            throw QueryFailure.tooLarge("it uses more than \(Self.greatestCollectionCount) collections")
        }
    }

    mutating func condition(_ plan: QueryPlan) throws -> String {
        try plan.predicate.map { " WHERE " + (try compile($0, .row(plan.table, "t"))) } ?? ""
    }

    // MARK: Order

    mutating func order(_ terms: [SortTerm], _ table: TableID, isReversed: Bool = false) throws -> [String] {
        try terms.flatMap { term in
            try sortExpressions(term.path, table).map { $0 + (term.ascending != isReversed ? "" : " DESC") }
        }
    }

    // MARK: Stages

    /// Selects the keys of the members as `k`. Selects their positions in the result as `n`, and their positions in the
    /// source of the plan as `i`.
    mutating func ranked(_ plan: QueryPlan) throws -> String {
        let layout = schema[plan.table].layout
        let key = "t.\(layout.keyColumn)"
        // The steps are common table expressions and are not nested, because SQLite limits the depth of statements.
        var steps: [String] = []
        var stages = plan.stages[...]
        if case .limit(let count, let offset)? = stages.first {
            steps.append(try limitedRows(plan, Self.range(count, offset: offset)))
            stages.removeFirst()
        } else {
            let rows = rows(plan)
            let order = (try order(plan.sort, plan.table) + [rows.position]).joined(separator: ", ")
            steps.append(
                "SELECT \(rows.key) AS k, row_number() OVER (ORDER BY \(order)) AS n, \(rows.position) AS i "
                    + "FROM \(rows.tables)\(try condition(plan))")
        }
        for stage in stages {
            let last = Self.name(ofStep: steps.count - 1)
            let members = "\(last) p JOIN \(layout.table) t ON \(key) = p.k"
            switch stage {
            case .limit(let count, let offset):
                steps.append("SELECT k, n, i FROM \(last) ORDER BY n LIMIT \(count) OFFSET \(offset)")
            case .filter(let predicate):
                let condition = try compile(predicate, .row(plan.table, "t"))
                steps.append("SELECT p.k, p.n, p.i FROM \(members) WHERE \(condition)")
            case .sort(let terms):
                let order = (try self.order(terms, plan.table) + ["p.n"]).joined(separator: ", ")
                steps.append("SELECT p.k, row_number() OVER (ORDER BY \(order)) AS n, p.i FROM \(members)")
            case .distinct(let paths):
                #if MARTLET_SEEDED_BUGS
                    let first = SeededBug.isOn(.distinctByKey) ? "p.k" : "p.n"
                #else
                    let first = "p.n"
                #endif
                let values = try paths.flatMap { try distinction($0, plan.table) }.joined(separator: ", ")
                let hasLinks = try paths.flatMap { try missingLinks($0, plan.table) }.map { "NOT \($0)" }
                let condition = hasLinks.isEmpty ? "" : " WHERE \(hasLinks.joined(separator: " AND "))"
                steps.append(
                    "SELECT k, n, i FROM (SELECT p.k, p.n, p.i, "
                        + "row_number() OVER (PARTITION BY \(values) ORDER BY \(first)) AS r "
                        + "FROM \(members)\(condition)) WHERE r = 1")
            }
        }
        let named = steps.enumerated().map { "\(Self.name(ofStep: $0))(k, n, i) AS (\($1))" }
        return "WITH \(named.joined(separator: ", ")) SELECT k, n, i FROM \(Self.name(ofStep: steps.count - 1))"
    }

    // The first rows of a plan, with their positions. Only these rows are numbered. So if an index has the order of the
    // plan, SQLite stops after the last of these rows.
    private mutating func limitedRows(_ plan: QueryPlan, _ range: String) throws -> String {
        let rows = rows(plan)
        let terms = try plan.sort.flatMap { term in
            try sortExpressions(term.path, plan.table).map { ($0, term.ascending ? "" : " DESC") }
        }
        let values = terms.enumerated().map { ", \($1.0) AS o\($0)" }.joined()
        let order = (terms.enumerated().map { "o\($0)\($1.1)" } + ["i"]).joined(separator: ", ")
        let limited =
            "SELECT \(rows.key) AS k, \(rows.position) AS i\(values) FROM \(rows.tables)\(try condition(plan)) "
            + "ORDER BY \(order)\(range)"
        return "SELECT k, row_number() OVER (ORDER BY \(order)) AS n, i FROM (\(limited))"
    }

    // The name contains a space, so no object type has it.
    private static func name(ofStep position: Int) -> String { "\"step \(position)\"" }
}

/// An invalid query, or a query that is too deep or too large. The public module traps with the message, or throws
/// `.invalidInput` if the query is a parsed predicate.
package struct QueryFailure: Error, Sendable {
    package let message: String
    init(_ message: String) { self.message = message }

    /// Converts an error of SQLite for a statement that is too deep or too large. Returns nil for other errors.
    init?(_ error: SQLiteError) {
        let limitErrors = ["parser stack overflow", "Expression tree is too large", "too many ", "at most "]
        guard error.primary == .tooBig || limitErrors.contains(where: error.message.hasPrefix) else { return nil }
        self = .tooLarge(error.message)
    }

    /// Converts an error that means that a query is invalid or too large. Returns nil for other errors.
    package init?(_ error: any Error) {
        if let failure = error as? QueryFailure {
            self = failure
        } else if let failure = (error as? SQLiteError).flatMap({ QueryFailure($0) }) {
            self = failure
        } else {
            return nil
        }
    }

    static func tooLarge(_ reason: String) -> QueryFailure {
        QueryFailure(
            "the condition is too deep or too large (\(reason)): write it with fewer parentheses, calculations, links "
                + "or values, or filter in several steps")
    }
}
