import MartletSQLite
import MartletValues

/// Finds the rows of a type that are affected by changes of other rows. The search starts at the changed rows and
/// follows links backwards.
struct AffectedRows {
    let schema: DatabaseSchema
    let changes: ChangeSet
    let oldRows: RowImages

    init(_ schema: DatabaseSchema, _ changes: (changes: ChangeSet, oldRows: RowImages)) {
        self.schema = schema
        self.changes = changes.changes
        oldRows = changes.oldRows
    }

    /// The rows of `table` whose dependencies have changed: rows from which a path in `dependencies` leads to another
    /// row that changed. Returns nil if the rows cannot be found by following links backwards.
    func affectedRows(
        _ dependencies: QueryDependencies, of table: TableID, _ connection: Connection
    ) throws -> KeySet? {
        var found = KeySet()
        for route in dependencies.routes {
            guard let rows = try rows(atStartOf: route, connection) else { return nil }
            found.formUnion(rows)
        }
        var reach = dependencies.reach
        if let anyReach = dependencies.anyReach, try AnyLinkIndex.exists(connection) { reach = anyReach }
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.anyLinksUnfollowed) { reach = dependencies.reach }
        #endif
        if let reach {
            guard let rows = try rows(reaching: reach, of: table, connection) else { return nil }
            found.formUnion(rows)
        }
        return found
    }

    /// The rows from which a route leads to a changed row. Returns nil if these rows cannot be found by following links
    /// backwards.
    private func rows(atStartOf route: QueryDependencies.Route, _ connection: Connection) throws -> KeySet? {
        guard let last = route.steps.last, let change = changes.tables[last.target] else { return KeySet() }
        guard var keys = try rows(beforeLastStep: last, change, route.columns, connection) else { return nil }
        for step in route.steps.dropLast().reversed() where !keys.isEmpty {
            guard let back = try sources(of: step, to: keys, connection) else { return nil }
            keys = back
        }
        return keys
    }

    /// The rows from which the last step of a route leads to a changed row. If the step leads to linking objects, the
    /// result includes the targets of links that were added or removed.
    private func rows(
        beforeLastStep step: PathStep, _ change: TableChanges, _ columns: ColumnSet, _ connection: Connection
    ) throws -> KeySet? {
        guard case .linkingObjects(_, let origin, let property) = step else {
            return try sources(of: step, to: change.keys(modifiedIn: columns), connection)
        }
        guard schema[origin].layout.column(of: property) == nil else {
            let keys = change.keys(modifiedIn: columns).union(change.inserted).union(change.deleted)
            return try sources(of: step, to: keys, connection)
        }
        let changed = try sources(of: step, to: change.keys(modifiedIn: columns), connection)
        return changed?.union(changes.changedTargets[LinkID(table: origin, property: property)] ?? KeySet())
    }

    /// The rows of `table` from which a modified row can be reached over at most `reach.depth` links. The search starts
    /// at all modified rows and goes back one link in each step. The search ends even if links form cycles, because it
    /// follows the links to each row only once. So its cost depends on the number of links, and not on the number of
    /// paths.
    private func rows(
        reaching reach: QueryDependencies.Reach, of table: TableID, _ connection: Connection
    ) throws -> KeySet? {
        var found: [TableID: KeySet] = [:]
        let targets = reach.anyLinkProperties.isEmpty ? Set(reach.links.map(\.target)) : Set(changes.tables.keys)
        for target in targets {
            guard let modified = changes.tables[target]?.modifiedKeys, !modified.isEmpty else { continue }
            found[target] = modified
        }
        var newest = found
        var result = KeySet()
        for _ in 0..<reach.depth where !newest.isEmpty {
            var next: [TableID: KeySet] = [:]
            for link in reach.links {
                guard let keys = newest[link.target], !keys.isEmpty else { continue }
                guard let back = try sources(of: link, to: keys, connection) else { return nil }
                next[link.source, default: KeySet()].formUnion(back)
            }
            if !reach.anyLinkProperties.isEmpty {
                for (target, keys) in newest {
                    try addAnyLinkSources(of: keys, target, reach.anyLinkProperties, to: &next, connection)
                }
            }
            if let reached = next[table] { result.formUnion(reached) }
            newest = [:]
            for (table, keys) in next {
                let new = keys.subtracting(found[table] ?? KeySet())
                found[table, default: KeySet()].formUnion(new)
                if !new.isEmpty { newest[table] = new }
            }
        }
        return result
    }

    // MARK: One step back

    /// Adds to `found` the rows that link to one of `keys` through one of the properties `holders`. These properties
    /// contain values of type `AnyRealmValue`.
    private func addAnyLinkSources(
        of keys: KeySet, _ target: TableID, _ holders: Set<LinkID>, to found: inout [TableID: KeySet],
        _ connection: Connection
    ) throws {
        try KeyBatches.forEach(Array(keys)) { batch in
            let marks = (1...batch.count).map { "?\($0)" }.joined(separator: ", ")
            let statement = try connection.statement(
                "SELECT type, property, owner FROM \(AnyLinkIndex.name) WHERE target_type = ?\(batch.count + 1) "
                    + "AND target IN (\(marks))")
            for (offset, key) in batch.enumerated() { statement.bind(key, at: offset + 1) }
            statement.bind(Int64(target), at: batch.count + 1)
            while try statement.step() {
                let table = TableID(statement.integer(0))
                guard holders.contains(LinkID(table: table, property: PropertyIndex(statement.integer(1)))) else {
                    continue
                }
                found[table, default: KeySet()].insert(statement.integer(2))
            }
        }
    }

    private func sources(of step: PathStep, to keys: KeySet, _ connection: Connection) throws -> KeySet? {
        switch step {
        case .link(let table, let property, _):
            let layout = schema[table].layout
            guard let column = layout.column(of: property) else { return nil }
            return try select(
                "SELECT \(layout.keyColumn) FROM \(layout.table) WHERE \(column.name) IN", keys, connection)
        case .collection(let table, let property, _):
            guard let targets = schema[table].layout.collection(of: property).targetTable else { return nil }
            return try select("SELECT owner FROM \(targets) WHERE target IN", keys, connection)
        case .linkingObjects(_, let origin, let property):
            return try targets(of: keys, origin, property, connection)
        case .anyLink(let table, let property, let target):
            guard try AnyLinkIndex.exists(connection) else { return KeySet() }
            return try select(
                "SELECT owner FROM \(AnyLinkIndex.name) WHERE target_type = \(target) AND type = \(table) "
                    + "AND property = \(property) AND target IN", keys, connection)
        }
    }

    /// The rows to which the rows `keys` link now. For a link property, the result includes the rows to which they
    /// linked before. For a collection, the former targets are not included, because `ChangeSet.changedTargets`
    /// contains them.
    private func targets(
        of keys: KeySet, _ origin: TableID, _ property: PropertyIndex, _ connection: Connection
    ) throws -> KeySet? {
        let layout = schema[origin].layout
        guard let column = layout.column(of: property) else {
            let collection = layout.collection(of: property)
            guard collection.targetTable != nil else { return nil }
            return KeySet(try keys.flatMap { try collection.storedTargets(of: $0, connection) })
        }
        let change = changes.tables[origin] ?? TableChanges()
        #if MARTLET_SEEDED_BUGS
            let deleted = SeededBug.isOn(.deletedOriginForgotten) ? [] : change.deleted
        #else
            let deleted = change.deleted
        #endif
        let moved = change.keys(modifiedIn: ColumnSet(property)).union(deleted).intersection(keys)
        var found = try select(
            "SELECT \(column.name) FROM \(layout.table) WHERE \(column.name) IS NOT NULL AND \(layout.keyColumn) IN",
            keys,
            connection)
        guard !moved.isEmpty, let position = layout.columns.firstIndex(where: { $0.property == property }) else {
            return found
        }
        for key in moved {
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

/// Splits many keys into batches of a few fixed sizes, so that prepared statements are reused.
enum KeyBatches {
    private static let sizes = [256, 32, 4, 1]

    static func forEach(_ keys: [ObjectKey], _ body: ([ObjectKey]) throws -> Void) rethrows {
        var start = 0
        while start < keys.count {
            let remaining = keys.count - start
            let size = sizes.first { $0 <= remaining } ?? 1
            try body(Array(keys[start..<start + size]))
            start += size
        }
    }
}
