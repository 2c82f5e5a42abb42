import MartletEngine

extension ReadDependency {
    /// The rows and columns on which the members of a result and their order depend. Each assignment is compared with
    /// these dependencies. To make the comparison fast, the dependencies are coarser than the dependencies of
    /// observers.
    static func dependencies(of plan: QueryPlan, _ context: RealmContext) -> [ReadDependency] {
        let collections = plan.collections.map { ReadDependency.property($0.table, $0.owner, $0.property) }
        let query = try? QueryDependencies(plan, context.schema)
        return [.rows(plan.table)] + collections + dependencies(query, plan.table, context)
    }

    /// The rows and columns on which the values at the end of a path depend.
    static func dependencies(of path: PropertyPath, _ table: TableID, _ context: RealmContext) -> [ReadDependency] {
        dependencies(try? QueryDependencies(keyPaths: [path], table: table, context.schema), table, context)
    }

    private static func dependencies(
        _ query: QueryDependencies?, _ table: TableID, _ context: RealmContext
    ) -> [ReadDependency] {
        guard let query else { return [] }
        func columns(_ columns: ColumnSet, _ table: TableID) -> [ReadDependency] {
            columns.members(below: context.table(table).type.properties.count).map { .column(table, $0) }
        }
        return columns(query.columns, table)
            + query.routes.flatMap { route -> [ReadDependency] in
                let inverses = route.steps.flatMap { step -> [ReadDependency] in
                    guard case .linkingObjects(_, let origin, let property) = step else { return [] }
                    return [.rows(origin), .column(origin, property)]
                }
                return inverses + columns(route.columns, route.steps.last?.target ?? table)
            }
    }
}
