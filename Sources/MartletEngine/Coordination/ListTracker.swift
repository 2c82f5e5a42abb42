import MartletSQLite

/// Says what changed in the list, set or map of one row from version to version.
package struct ListTracker: Sendable {
    package let id: CollectionID
    private let schema: DatabaseSchema
    private let target: TableID?
    private let reported: QueryDependencies?

    /// - Parameter keyPaths: which changes of the elements count; nil for everything up to four types deep.
    package init(_ id: CollectionID, keyPaths: [PropertyPath]?, _ schema: DatabaseSchema) throws(ResolvedPath.Failure) {
        self.id = id
        self.schema = schema
        let property = schema[id.table].type.properties[id.property]
        target = property.element.target.flatMap { schema[$0]?.id }
        guard let target else {
            reported = nil
            return
        }
        reported =
            if let keyPaths {
                try QueryDependencies(keyPaths: keyPaths, table: target, schema)
            } else {
                QueryDependencies(depth: 4, table: target, schema)
            }
    }

    /// The number of elements at a snapshot; nil when the owner is gone.
    package func count(_ handle: SnapshotHandle) throws -> Int? {
        let layout = schema[id.table].layout
        return try handle.read { connection in
            let exists = try connection.integer(
                "SELECT 1 FROM \(layout.table) WHERE \(layout.keyColumn) = ?1", [.integer(id.owner)])
            guard exists == 1 else { return nil }
            let chunks = layout.collection(of: id.property).chunks
            return Int(
                try connection.integer("SELECT ifnull(sum(count), 0) FROM \(chunks) WHERE owner = ?1", [.integer(id.owner)]) ?? 0)
        }
    }

    /// The difference to a state with `oldCount` elements.
    package func change(
        oldCount: Int, _ changes: (changes: ChangeSet, oldRows: RowImages)?, _ handle: SnapshotHandle
    ) throws -> CollectionChange {
        guard let (changes, oldRows) = changes else { return try unknown(oldCount, handle) }
        if changes.tables[id.table]?.deleted.contains(id.owner) == true {
            return CollectionChange(deletions: Array(0..<oldCount))
        }
        var builder = CollectionChangeBuilder(oldCount: oldCount)
        if let script = changes.collections[id] { builder.apply(script) }
        let modified = try modifiedElements(changes, oldRows, handle)
        if !modified.isEmpty {
            for (position, element) in try elements(handle).enumerated() {
                if case .integer(let key) = element, modified.contains(key) { builder.apply(.replace(at: position)) }
            }
        }
        return builder.finish()
    }

    private func unknown(_ oldCount: Int, _ handle: SnapshotHandle) throws -> CollectionChange {
        let newCount = try count(handle) ?? 0
        let common = Array(0..<min(oldCount, newCount))
        return CollectionChange(
            deletions: Array(common.count..<oldCount), insertions: Array(common.count..<newCount), modifications: common,
            modificationsNew: common)
    }

    private func modifiedElements(_ changes: ChangeSet, _ oldRows: RowImages, _ handle: SnapshotHandle) throws -> KeySet {
        guard let target, let reported, reported.touches(changes, table: target) else { return KeySet() }
        let table = changes.tables[target] ?? TableChanges()
        var modified = table.keys(modifiedIn: reported.columns)
        let affected = AffectedRows(schema: schema, changes: changes, oldRows: oldRows)
        for route in reported.routes {
            if let rows = try handle.read({ try affected.rows(route, $0) }) {
                modified.formUnion(rows)
            } else {
                modified = KeySet(ObjectKey.min...ObjectKey.max)
            }
        }
        return modified
    }

    private func elements(_ handle: SnapshotHandle) throws -> [SQLValue] {
        let chunks = schema[id.table].layout.collection(of: id.property).chunks
        return try handle.read { connection in
            var list = try ChunkedElements(owner: id.owner, table: chunks, connection)
            return try list.all { ordinal, count in
                try ChunkedElements.load(owner: id.owner, ordinal: ordinal, count: count, table: chunks, connection)
            }
        }
    }
}
