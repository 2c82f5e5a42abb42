import MartletSQLite

/// Finds the rows of a type that changes elsewhere concern: from changed rows back along links.
struct AffectedRows {
    let schema: DatabaseSchema
    let changes: ChangeSet
    let oldRows: RowImages
    /// More rows than this are not followed back one by one.
    static let limit = 20_000

    /// Rows at the start of a route whose end changed; nil when they are too many, or the way back is no longer known.
    func rows(_ route: QueryDependencies.Route, _ connection: Connection) throws -> KeySet? {
        guard let last = route.steps.last else { return KeySet() }
        guard let change = changes.tables[last.target] else { return KeySet() }
        var keys = change.keys(modifiedIn: route.columns)
        if case .linkingObjects = last { keys = keys.union(change.inserted).union(change.deleted) }
        for step in route.steps.reversed() where !keys.isEmpty {
            guard keys.count <= Self.limit, let back = try rows(step, to: keys, connection) else { return nil }
            keys = back
        }
        return keys
    }

    private func rows(_ step: PathStep, to keys: KeySet, _ connection: Connection) throws -> KeySet? {
        switch step {
        case .link(let table, let property, _):
            let layout = schema[table].layout
            guard let column = layout.column(of: property) else { return nil }
            return try select("SELECT \(layout.keyColumn) FROM \(layout.table) WHERE \(column.name) IN", keys, connection)
        case .collection(let table, let property, _):
            guard let targets = schema[table].layout.collection(of: property).targets else { return nil }
            return try select("SELECT owner FROM \(targets) WHERE target IN", keys, connection)
        case .linkingObjects(_, let origin, let property):
            return try targets(of: keys, origin, property, connection)
        }
    }

    /// Where rows link to now, and where they linked to before.
    private func targets(
        of keys: KeySet, _ origin: TableID, _ property: PropertyIndex, _ connection: Connection
    ) throws -> KeySet? {
        let layout = schema[origin].layout
        guard let column = layout.column(of: property) else { return nil }
        var found = try select(
            "SELECT \(column.name) FROM \(layout.table) WHERE \(column.name) IS NOT NULL AND \(layout.keyColumn) IN", keys,
            connection)
        guard let change = changes.tables[origin],
            let position = layout.columns.firstIndex(where: { $0.property == property })
        else { return found }
        let moved = change.keys(modifiedIn: ColumnSet(property)).union(change.deleted).intersection(keys)
        for key in moved where !change.inserted.contains(key) || change.deleted.contains(key) {
            guard let old = oldRows.row(key, in: origin) else { return nil }
            if case .integer(let target) = old[position] { found.insert(target) }
        }
        return found
    }

    private func select(_ sql: String, _ keys: KeySet, _ connection: Connection) throws -> KeySet {
        var found: [ObjectKey] = []
        try KeyBatches.forEach(Array(keys)) { batch in
            let marks = (1...batch.count).map { "?\($0)" }.joined(separator: ", ")
            let statement = try connection.statement("\(sql) (\(marks))")
            for (offset, key) in batch.enumerated() { statement.bind(key, at: offset + 1) }
            while try statement.step() { found.append(statement.integer(0)) }
        }
        return KeySet(found)
    }
}

/// Many keys in few statements: batches of a few fixed sizes, so that prepared statements are found again.
enum KeyBatches {
    private static let sizes = [256, 32, 4, 1]

    static func forEach(_ keys: [ObjectKey], _ body: ([ObjectKey]) throws -> Void) rethrows {
        var start = 0
        while start < keys.count {
            let left = keys.count - start
            let size = sizes.first { $0 <= left } ?? 1
            try body(Array(keys[start..<start + size]))
            start += size
        }
    }
}
