package import MartletSQLite

extension QueryCompiler {
    /// Throws if a plan cannot be compiled, or if SQLite cannot prepare a statement that the plan needs.
    ///
    /// The maximum depth of a statement depends on the version of SQLite, so this method lets SQLite prepare the
    /// deepest statement of `keys`, and the statement of `candidates`. It encloses each of these statements in ten
    /// nested conditions. Therefore a statement that is derived from an accepted plan may have up to ten more nested
    /// conditions. It may also have any number of further stages, because stages are not nested.
    package static func check(_ plan: QueryPlan, _ schema: DatabaseSchema, _ connection: Connection) throws {
        var whole = plan
        whole.add(.limit(1, offset: 0))
        var compiler = QueryCompiler(schema)
        var queries = [try compiler.keys(whole)]
        if plan.stages.isEmpty {
            compiler = QueryCompiler(schema)
            queries.append(try compiler.candidates(plan, keyCount: 1))
        }
        let (open, close) = (String(repeating: "(", count: 10), String(repeating: " AND 1)", count: 10))
        for query in queries {
            do {
                _ = try connection.statement("SELECT 1 WHERE \(open)EXISTS (\(query.sql))\(close)")
            } catch {
                throw QueryFailure(error as any Error).map { $0 as any Error } ?? error
            }
        }
    }
}
