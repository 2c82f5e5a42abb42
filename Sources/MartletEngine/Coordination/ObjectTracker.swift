import MartletSQLite

/// Says which properties of one row changed from version to version.
package struct ObjectTracker: Sendable {
    package enum Change: Sendable {
        case none
        case modified([PropertyIndex])
        case deleted
    }

    private let table: TableID
    private let key: ObjectKey
    private let schema: DatabaseSchema
    /// What was asked for: the property a key path begins with, and all that its change rests on. Nil for all properties.
    private let paths: [(root: PropertyIndex, dependencies: QueryDependencies)]?

    package init(
        table: TableID, key: ObjectKey, keyPaths: [PropertyPath]?, _ schema: DatabaseSchema
    ) throws(ResolvedPath.Failure) {
        self.table = table
        self.key = key
        self.schema = schema
        guard let keyPaths else {
            paths = nil
            return
        }
        var paths: [(PropertyIndex, QueryDependencies)] = []
        for path in keyPaths {
            let dependencies = try QueryDependencies(keyPaths: [path], table: table, schema)
            if path.names == ["*"] {
                paths += schema[table].type.properties.map { property in
                    (property.index, (try? QueryDependencies(keyPaths: [PropertyPath([property.name])], table: table, schema)) ?? QueryDependencies())
                }
            } else if let first = path.names.first, let property = schema[table].type[first] {
                paths.append((property.index, dependencies))
            }
        }
        self.paths = paths
    }

    package func change(
        _ changes: (changes: ChangeSet, oldRows: RowImages)?, _ handle: SnapshotHandle
    ) throws -> Change {
        let properties = schema[table].type.properties
        guard let (changes, oldRows) = changes else {
            let layout = schema[table].layout
            let exists = try handle.read {
                try $0.integer("SELECT 1 FROM \(layout.table) WHERE \(layout.keyColumn) = ?1", [.integer(key)]) == 1
            }
            return exists ? .modified(paths.map { Array(Set($0.map(\.root))).sorted() } ?? properties.map(\.index)) : .deleted
        }
        let own = changes.tables[table]
        if own?.deleted.contains(key) == true { return .deleted }
        let columns = own?.columns(modifiedFor: key) ?? ColumnSet()
        guard let paths else {
            let members = columns.members(below: properties.count)
            return members.isEmpty ? .none : .modified(members)
        }
        var changed: Set<PropertyIndex> = []
        let affected = AffectedRows(schema: schema, changes: changes, oldRows: oldRows)
        for (root, dependencies) in paths where !changed.contains(root) {
            if !dependencies.columns.isDisjoint(with: columns) {
                changed.insert(root)
                continue
            }
            for route in dependencies.routes where route.steps.contains(where: { changes.touches(table: $0.target) }) {
                let rows = try handle.read { try affected.rows(route, $0) }
                if rows?.contains(key) ?? true { changed.insert(root) }
            }
        }
        return changed.isEmpty ? .none : .modified(changed.sorted())
    }
}
