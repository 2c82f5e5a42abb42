package import MartletSQLite
package import MartletValues

/// Runs the query of a plan on a connection.
package struct QueryRunner {
    let schema: DatabaseSchema
    let plan: QueryPlan
    let compiled: CompiledQueries?
    /// The approximate number of rows of the table; nil if it is not known.
    let rowCount: Int?

    /// - Parameter compiled: the compiled queries of the type of the plan; nil to compile the query.
    package init(
        _ plan: QueryPlan, _ schema: DatabaseSchema, _ compiled: CompiledQueries? = nil, rowCount: Int? = nil
    ) {
        self.plan = plan
        self.schema = schema
        self.compiled = compiled
        self.rowCount = rowCount
    }

    /// The keys of the members in order. If `limit` is given, only the first `limit` keys are returned.
    ///
    /// - Parameter isReversed: true for the reverse order. The plan then has no stages.
    package func keys(limit: Int? = nil, isReversed: Bool = false, _ connection: Connection) throws -> [ObjectKey] {
        if !isReversed, let keys = try distinctKeys(limit: limit, connection) { return keys }
        let usesIndex = try prefersIndex(limit: limit, connection)
        let selection = QueryForm.Selection.keys(limit: limit, isReversed: isReversed, usesIndex: usesIndex)
        let statement = try statement(selection, connection) { compiler in
            try compiler.keys(plan, limit: limit, isReversed: isReversed, usesIndex: usesIndex)
        }
        var keys: [ObjectKey] = []
        while try statement.step() { keys.append(statement.integer(0)) }
        return keys
    }

    /// True if a row is a member. The plan has neither stages nor a source.
    package func contains(_ key: ObjectKey, _ connection: Connection) throws -> Bool {
        var plan = plan
        plan.sort = []
        var compiler = QueryCompiler(schema)
        let query = try compiler.candidates(plan, keyCount: 1)
        try prepareFullText(compiler, connection)
        let statement = try connection.statement(query.sql)
        statement.bind(query.arguments)
        statement.bind(key, at: 1)
        defer { statement.reset() }
        return try statement.step()
    }

    package func count(_ connection: Connection) throws -> Int {
        if let keys = try distinctKeys(limit: nil, connection) { return keys.count }
        let statement = try statement(.count, connection) { try $0.count(plan) }
        let count = try statement.step() ? Int(statement.integer(0)) : 0
        statement.reset()
        if count < 0 { throw EngineError.damaged(EngineError.miscountedLink, path: connection.options.path) }
        return count
    }

    /// The statement of a query with its arguments. Compiles the query if no query of its form was compiled before.
    func statement(
        _ selection: QueryForm.Selection, _ connection: Connection,
        _ compile: (inout QueryCompiler) throws -> QueryCompiler.Query
    ) throws -> Statement {
        let form = compiled == nil ? nil : QueryForm.of(plan, selection)
        if let form, let statement = try compiled?.statement(form.form, connection) {
            statement.bind(form.values)
            return statement
        }
        var compiler = QueryCompiler(schema)
        let query = try compile(&compiler)
        if let form { compiled?.insert(form.form, form.values, query) }
        try prepareFullText(compiler, connection)
        let statement = try connection.statement(query.sql)
        statement.bind(query.arguments)
        return statement
    }

    // FTS5 keeps new entries in memory during a write transaction. In SQLite 3.40.1, an entry is damaged if a prefix
    // search reads it and a later change of the same row is appended to it. A savepoint makes FTS5 write these entries
    // to the file before the search.
    func prepareFullText(_ compiler: QueryCompiler, _ connection: Connection) throws {
        guard compiler.searchesFullText, connection.isWriting else { return }
        try connection.run("SAVEPOINT martlet_full_text")
        try connection.run("RELEASE martlet_full_text")
    }

    /// The result of an aggregate function over the values at a path.
    ///
    /// - Parameter isRequired: true if every row must have a value at the path. A NULL in a row then means that the
    ///   file is damaged.
    package func aggregate(
        _ function: Predicate.Aggregate, _ path: PropertyPath, isRequired: Bool, _ connection: Connection
    ) throws -> SQLValue {
        func value(usesWideSum: Bool) throws -> SQLValue {
            let selection = QueryForm.Selection.aggregate(
                function, path, isRequired: isRequired, usesWideSum: usesWideSum)
            let statement = try statement(selection, connection) { compiler in
                try compiler.aggregate(function, path, plan, usesWideSum: usesWideSum, isRequired: isRequired)
            }
            defer { statement.reset() }
            let value = try statement.step() ? statement.value(0) : .null
            // The sum of positive and negative infinity is NaN. SQLite cannot return NaN, so the query returns NULL or
            // 'nan' instead.
            if function == .sum && value == .null || function == .average && value == .text("nan") {
                return .real(.nan)
            }
            return value
        }
        do {
            return try value(usesWideSum: false)
        } catch let error as SQLiteError where error.message == "integer overflow" {
            // SQLite stops at the first partial sum that overflows, even if the total fits in 64 bits.
            return try value(usesWideSum: true)
        }
    }
}
