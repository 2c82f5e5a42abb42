import MartletSQLite

/// Keeps the ordered keys of one result up to date, version after version, and says what changed.
package struct ResultsTracker: Sendable {
    package let plan: QueryPlan
    private let schema: DatabaseSchema
    private let membership: QueryDependencies
    private let reported: QueryDependencies
    private let order: SortOrder
    /// Lists whose elements the members are: they come and go with edits of the list, which their own rows do not show.
    private let lists: [CollectionID]
    /// Positions of the sort's columns in a row, when it sorts by properties of the rows themselves.
    private let sortColumns: [Int]?

    /// - Parameter keyPaths: what counts as a modification; nil for everything up to four types deep.
    package init(_ plan: QueryPlan, keyPaths: [PropertyPath]?, _ schema: DatabaseSchema) throws(ResolvedPath.Failure) {
        self.plan = plan
        self.schema = schema
        membership = try QueryDependencies(plan, schema)
        reported =
            if let keyPaths {
                try QueryDependencies(keyPaths: keyPaths, table: plan.table, schema)
            } else {
                QueryDependencies(depth: 4, table: plan.table, schema)
            }
        lists = plan.conditions.flatMap { Self.lists($0) }
        order = SortOrder(ascending: plan.sort.map(\.ascending))
        let layout = schema[plan.table].layout
        let columns = plan.sort.map { term -> Int? in
            guard term.path.components.count == 1, let property = schema[plan.table].type[term.path.names[0]] else {
                return nil
            }
            return layout.columns.firstIndex { $0.property == property.index }
        }
        sortColumns = columns.contains(nil) ? nil : columns.compactMap { $0 }
    }

    /// All keys at a snapshot.
    package func keys(_ handle: SnapshotHandle) throws -> KeySequence { try handle.read { try keys($0) } }

    private func keys(_ connection: Connection) throws -> KeySequence {
        var compiler = QueryCompiler(schema)
        let query = try compiler.keys(plan)
        let statement = try connection.statement(query.sql)
        statement.bind(query.arguments)
        var keys: [ObjectKey] = []
        while try statement.step() { keys.append(statement.integer(0)) }
        return KeySequence(keys)
    }

    /// The keys at a later snapshot, and the difference. `changes` is nil when what happened is no longer known.
    package func advance(
        _ old: KeySequence, _ changes: (changes: ChangeSet, oldRows: RowImages)?, _ handle: SnapshotHandle
    ) throws -> (keys: KeySequence, change: CollectionChange) {
        guard let changes else {
            let new = try keys(handle)
            return (new, CollectionDiff.change(from: old, to: new, modified: KeySet(new), replaced: KeySet()))
        }
        guard touches(changes.changes) else { return (old, CollectionChange()) }
        return try handle.read { try advance(old, changes, $0) }
    }

    private func touches(_ changes: ChangeSet) -> Bool {
        membership.touches(changes, table: plan.table) || reported.touches(changes, table: plan.table)
            || hasEditedList(changes)
    }

    private func hasEditedList(_ changes: ChangeSet) -> Bool {
        lists.contains {
            changes.collections[$0] != nil || changes.tables[$0.table]?.deleted.contains($0.owner) == true
        }
    }

    private static func lists(_ predicate: Predicate) -> [CollectionID] {
        switch predicate {
        case .element(let table, let property, let owner):
            [CollectionID(table: table, property: property, owner: owner)]
        case .and(let parts), .or(let parts): parts.flatMap { lists($0) }
        case .not(let part), .someNot(let part): lists(part)
        default: []
        }
    }

    private func advance(
        _ old: KeySequence, _ changes: (changes: ChangeSet, oldRows: RowImages), _ connection: Connection
    ) throws -> (keys: KeySequence, change: CollectionChange) {
        let affected = AffectedRows(schema, changes)
        let table = changes.changes.tables[plan.table] ?? TableChanges()
        let reportedRows = try affected.rows(reported, of: plan.table, connection)
        let movedRows = try affected.rows(membership, of: plan.table, connection)
        // Where the way back is lost, every member counts as modified: too much is better than silence.
        let modified = table.keys(modifiedIn: reported.columns).union(table.replaced).union(reportedRows ?? KeySet(old))
        let moved = table.keys(modifiedIn: membership.columns).union(movedRows ?? KeySet())
        // What is left of equal members, or up to a limit, is asked for again.
        let isKnown = movedRows != nil && !hasEditedList(changes.changes) && plan.stages.isEmpty
        let touched = modified.union(moved).union(table.inserted).union(table.deleted)
        if touched.isEmpty && isKnown { return (old, CollectionChange()) }
        guard isKnown, touched.count <= max(1_000, old.count / 4) else {
            let new = try keys(connection)
            return (new, CollectionDiff.change(from: old, to: new, modified: modified, replaced: table.replaced))
        }
        let maintainer = ResultsMaintainer(
            old: old, order: order, touched: touched, replaced: table.replaced,
            inserted: table.inserted.subtracting(table.deleted), reported: modified,
            candidates: try candidates(touched, connection),
            oldSortKeys: oldSortKeys(touched, table, changes.oldRows, connection))
        let outcome = try maintainer.maintain { key throws(SQLiteError) in try sortKey(of: key, connection) }
        return (outcome.keys, outcome.change)
    }

    private func candidates(_ touched: KeySet, _ connection: Connection) throws -> [SortKey] {
        var found: [SortKey] = []
        try KeyBatches.forEach(Array(touched)) { batch in
            var compiler = QueryCompiler(schema)
            let query = try compiler.candidates(plan, keyCount: batch.count)
            let statement = try connection.statement(query.sql)
            statement.bind(query.arguments)
            for (offset, key) in batch.enumerated() { statement.bind(key, at: offset + 1) }
            while try statement.step() {
                found.append(
                    SortKey(values: plan.sort.indices.map { statement.value($0 + 1) }, key: statement.integer(0)))
            }
        }
        return found
    }

    private func sortKey(of key: ObjectKey, _ connection: Connection) throws(SQLiteError) -> SortKey {
        var bare = plan
        bare.predicate = nil
        var compiler = QueryCompiler(schema)
        guard let query = try? compiler.candidates(bare, keyCount: 1) else { return SortKey(key: key) }
        let statement = try connection.statement(query.sql)
        // The keys of maps in the sort terms; then the place of the row's key is taken.
        statement.bind(query.arguments)
        statement.bind(key, at: 1)
        guard try statement.step() else { return SortKey(key: key) }
        defer { statement.reset() }
        return SortKey(values: plan.sort.indices.map { statement.value($0 + 1) }, key: key)
    }

    // Rows whose sort columns were not touched have the order they had; others are known by their images, where kept.
    private func oldSortKeys(
        _ touched: KeySet, _ table: TableChanges, _ oldRows: RowImages, _ connection: Connection
    ) -> [ObjectKey: SortKey] {
        guard let sortColumns, !sortColumns.isEmpty else { return [:] }
        let layout = schema[plan.table].layout
        let sorting = ColumnSet(sortColumns.map { layout.columns[$0].property })
        let changed = table.keys(modifiedIn: sorting).union(table.deleted)
        var keys: [ObjectKey: SortKey] = [:]
        for key in touched {
            if changed.contains(key) {
                guard let row = oldRows.row(key, in: plan.table) else { continue }
                keys[key] = SortKey(values: sortColumns.map { row[$0] }, key: key)
            } else if !table.inserted.contains(key), let unchanged = try? sortKey(of: key, connection) {
                keys[key] = unchanged
            }
        }
        return keys
    }
}
