package import MartletSQLite

extension QueryCompiler {
    /// Throws if a plan cannot be compiled or prepared in one of the forms in which it will run.
    ///
    /// The maximum depth of a statement depends on the version of SQLite, so this method lets SQLite prepare the
    /// deepest statement of each form. The prepared statements have ten additional nested conditions. Therefore a
    /// statement that is derived from an accepted plan may add up to ten nested conditions, and any number of stages.
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
