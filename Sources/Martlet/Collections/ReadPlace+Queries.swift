import MartletEngine

extension ReadPlace {
    /// The rows and columns on which the members of a result and their order depend. Coarser than the dependencies of
    /// observers, because it is checked at every assignment.
    static func places(_ plan: QueryPlan, _ context: RealmContext) -> [ReadPlace] {
        let collections = plan.collections.map { ReadPlace.property($0.table, $0.owner, $0.property) }
        let dependencies = try? QueryDependencies(plan, context.schema)
        return [.rows(plan.table)] + collections + places(dependencies, plan.table, context)
    }

    /// The rows and columns on which the values at the end of a path depend.
    static func places(_ path: PropertyPath, _ table: TableID, _ context: RealmContext) -> [ReadPlace] {
        places(try? QueryDependencies(keyPaths: [path], table: table, context.schema), table, context)
    }

    private static func places(
        _ dependencies: QueryDependencies?, _ table: TableID, _ context: RealmContext
    ) -> [ReadPlace] {
        guard let dependencies else { return [] }
        func columns(_ columns: ColumnSet, _ table: TableID) -> [ReadPlace] {
            columns.members(below: context.table(table).type.properties.count).map { .column(table, $0) }
        }
        return columns(dependencies.columns, table)
            + dependencies.routes.flatMap { route -> [ReadPlace] in
                let inverses = route.steps.flatMap { step -> [ReadPlace] in
                    guard case .linkingObjects(_, let origin, let property) = step else { return [] }
                    return [.rows(origin), .column(origin, property)]
                }
                return inverses + columns(route.columns, route.steps.last?.target ?? table)
            }
    }
}
