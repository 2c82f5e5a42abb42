package import MartletSQLite

extension QueryCompiler {
    /// Throws what is wrong with a plan in any of the forms that it is asked in, before it is.
    ///
    /// How deep a statement may be only SQLite knows, and it depends on the version: so it is asked, with the deepest
    /// statement of each form. Ten conditions and any number of stages can be added to what it takes.
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
                throw QueryFailure(error).map { $0 as any Error } ?? error
            }
        }
    }
}
