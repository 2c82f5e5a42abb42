import MartletSQLite
package import MartletValues

/// Computes which observed items of one row changed from version to version, and their values.
package struct ObjectTracker: Sendable {
    /// A property, or a labeled value of a projection. Its changes are reported under its name.
    package struct Item: Sendable {
        /// The key paths whose changes count as a change of the item.
        package var watched: [PropertyPath]
        /// The path over to-one links to the value of the item; nil for collections.
        package var valuePath: PropertyPath?

        package init(watched: [PropertyPath], valuePath: PropertyPath?) {
            self.watched = watched
            self.valuePath = valuePath
        }
    }

    /// The state of the row at a version.
    package struct State: Sendable {
        /// One value for each item. The value of a collection is null.
        package let values: [SQLValue]
        /// True if the row was deleted. A row that is created later with the same key is another object.
        package let isInvalidated: Bool
    }

    package enum Change: Sendable {
        case none
        /// The indices of the changed items, ascending.
        case modified([Int])
        case deleted
    }

    private let table: TableID
    private let key: ObjectKey
    private let schema: DatabaseSchema
    private let dependencies: [QueryDependencies]
    private let paths: [ResolvedPath?]

    package init(table: TableID, key: ObjectKey, items: [Item], _ schema: DatabaseSchema) throws(ResolvedPath.Failure) {
        self.table = table
        self.key = key
        self.schema = schema
        var dependencies: [QueryDependencies] = []
        var paths: [ResolvedPath?] = []
        for item in items {
            dependencies.append(try QueryDependencies(keyPaths: item.watched, table: table, schema))
            if let valuePath = item.valuePath {
                paths.append(try ResolvedPath(valuePath, from: table, in: schema))
            } else {
                paths.append(nil)
            }
        }
        self.dependencies = dependencies
        self.paths = paths
    }

    /// The tables in which a change can affect an item although the observed row itself was not touched.
    package var otherTables: Set<TableID> {
        Set(dependencies.flatMap { $0.routes.flatMap { $0.steps.map(\.target) } })
    }

    /// The state at a snapshot.
    package func state(_ handle: SnapshotHandle) throws -> State { try handle.read { try state($0) } }

    /// The state at a later snapshot, and the difference between both states. `changes` is nil if the changes between
    /// the two versions are unknown.
    package func advance(
        _ old: State, _ changes: (changes: ChangeSet, oldRows: RowImages)?, _ handle: SnapshotHandle
    ) throws -> (state: State, change: Change) {
        guard !old.isInvalidated else { return (old, .none) }
        guard let changes else { return try handle.read { try compare(old, $0) } }
        let own = changes.changes.tables[table]
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.replacedObjectSurvives), own?.replaced.contains(key) == true { return (old, .none) }
        #endif
        if own?.deleted.contains(key) == true { return (State(values: old.values, isInvalidated: true), .deleted) }
        let columns = own?.columns(modifiedFor: key) ?? ColumnSet()
        let changed = try handle.read { connection in
            try dependencies.indices.filter { try isChanged(dependencies[$0], columns, changes, connection) }
        }
        guard !changed.isEmpty else { return (old, .none) }
        return (try state(handle), .modified(changed))
    }

    private func isChanged(
        _ dependencies: QueryDependencies, _ columns: ColumnSet, _ changes: (changes: ChangeSet, oldRows: RowImages),
        _ connection: Connection
    ) throws -> Bool {
        if !dependencies.columns.isDisjoint(with: columns) { return true }
        let isTouched = dependencies.routes.contains { route in
            route.steps.contains { changes.changes.touches(table: $0.target) }
        }
        guard isTouched else { return false }
        let rows = try AffectedRows(schema, changes).affectedRows(dependencies, of: table, connection)
        return rows?.contains(key) ?? true
    }

    // Used if the changes are unknown. Compares the values of the items. An item always counts as changed if it is a
    // collection, or if it watches objects that are not on the path to its value.
    private func compare(_ old: State, _ connection: Connection) throws -> (state: State, change: Change) {
        let new = try state(connection)
        if new.isInvalidated { return (State(values: old.values, isInvalidated: true), .deleted) }
        let changed = dependencies.indices.filter { index in
            if dependencies[index].isEmpty { return false }
            let isPlain = paths[index].map { $0.steps.count == dependencies[index].routes.count } ?? false
            return !isPlain || old.values[index] != new.values[index]
        }
        return (new, changed.isEmpty ? .none : .modified(changed))
    }

    // MARK: Values

    private func state(_ connection: Connection) throws -> State {
        guard let row = try StoredRow(key, schema[table].layout, connection) else {
            return State(values: paths.map { _ in .null }, isInvalidated: true)
        }
        let values = try paths.map { path throws -> SQLValue in
            guard let path, let end = path.end else { return .null }
            var current = row
            for step in path.steps {
                guard case .link(_, let property, let target) = step,
                    case .integer(let next) = current.value(property),
                    let linked = try StoredRow(next, schema[target].layout, connection)
                else { return .null }
                current = linked
            }
            return current.value(end.property)
        }
        return State(values: values, isInvalidated: false)
    }
}
