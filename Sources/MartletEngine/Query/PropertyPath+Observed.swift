extension PropertyPath {
    /// The paths to which the key path of an observer expands.
    ///
    /// A "*" at the end is kept. A "*" before other components expands to every property that refers to objects for
    /// which the rest of the path is valid. If all components after a "*" are "*" too, the path that ends at the first
    /// "*" is also included: "*.*" includes "*". An `AnyRealmValue` property expands to each object type for which the
    /// rest of the path is valid.
    package static func observed(
        _ names: [String], from table: TableID, in schema: DatabaseSchema
    ) throws(ResolvedPath.Failure) -> [PropertyPath] {
        try expanded(names[...], 0, PropertyPath.itself, schema[table], schema)
    }

    private static func expanded(
        _ names: ArraySlice<String>, _ position: Int, _ start: PropertyPath, _ table: DatabaseSchema.Table,
        _ schema: DatabaseSchema
    ) throws(ResolvedPath.Failure) -> [PropertyPath] {
        guard let name = names.first else { return [start] }
        let rest = names.dropFirst()
        if name == "*" {
            if rest.isEmpty { return [start.appending(name)] }
            return try wildcard(rest, position, start, table, schema)
        }
        guard let property = table.type[name] else {
            throw ResolvedPath.Failure(type: table.type.name, name: name, position: position)
        }
        let path = start.appending(name)
        guard let next = rest.first else { return [path] }
        if property.isAny {
            let found = types(in: schema).flatMap { type in
                (try? expanded(rest, position + 1, path.appending(.type(type.type.name)), type, schema)) ?? []
            }
            if !found.isEmpty { return found }
        } else if let step = ResolvedPath.step(property, of: table.id, in: schema) {
            return try expanded(rest, position + 1, path, schema[step.target], schema)
        }
        throw ResolvedPath.Failure(type: "\(table.type.name).\(name)", name: next, position: position + 1)
    }

    /// Expands "*" to each property that refers to objects for which the rest of the path is valid.
    private static func wildcard(
        _ rest: ArraySlice<String>, _ position: Int, _ start: PropertyPath, _ table: DatabaseSchema.Table,
        _ schema: DatabaseSchema
    ) throws(ResolvedPath.Failure) -> [PropertyPath] {
        var found = rest.allSatisfy { $0 == "*" } ? [start.appending("*")] : []
        for property in table.type.properties {
            let names = ([property.name] + rest)[...]
            found += (try? expanded(names, position, start, table, schema)) ?? []
        }
        if found.isEmpty {
            throw ResolvedPath.Failure(type: table.type.name, name: rest.first ?? "*", position: position + 1)
        }
        return found
    }

    /// The types whose objects can be `AnyRealmValue` values.
    private static func types(in schema: DatabaseSchema) -> [DatabaseSchema.Table] {
        schema.tables.values.filter { !$0.type.isEmbedded }.sorted { $0.id < $1.id }
    }
}
