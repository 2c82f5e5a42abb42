import MartletSQLite

/// Keeps the ordered keys of one result up to date, version after version, and says what changed.
///
/// The rows that changes concern are asked for alone. A result with `distinct` or a limit is asked for as a whole, since
/// any of its rows can make another one appear, and so is one of which very many rows changed; the difference is then
/// found by comparing the keys of before and after.
package struct ResultsTracker: CollectionTracker {
    package struct State: TrackedState {
        /// The members, in order.
        package let keys: KeySequence
        package let isOver: Bool
        package static let over = State(keys: KeySequence(), isOver: true)
    }

    package struct Change: TrackedChange {
        package var positions = CollectionChange()
        /// Rows that were created, or whose content changed, for those who look closer than key paths say.
        package var noticed = KeySet()
        /// Members whose modification is told.
        package var modified = KeySet()
        /// Members that are other objects than before under the same keys.
        package var replaced = KeySet()
        package var isEmpty: Bool { positions.isEmpty && noticed.isEmpty }
    }

    package let plan: QueryPlan
    package let owner: CollectionOwner?
    let schema: DatabaseSchema
    private let membership: QueryDependencies
    private let reported: QueryDependencies
    /// What is noticed beside what is reported.
    private let noticed: QueryDependencies?
    let order: SortOrder
    /// Collections whose elements the members are: they come and go with edits, which their own rows do not show.
    private let collections: [CollectionID]
    private let keysScannedPerSearch: Int
    /// Positions of the sort's columns in a row, when it sorts by properties of the rows themselves.
    private let sortColumns: [Int]?
    /// Reads the sort values of one row, whether it matches or not.
    private let sortKeyQuery: QueryCompiler.Query?

    /// - Parameters:
    ///   - keyPaths: what counts as a modification; nil for everything up to four types deep.
    ///   - isNoticing: whether changes that key paths do not name are noticed too, up to four types deep.
    package init(
        _ plan: QueryPlan, owner: CollectionOwner? = nil, keyPaths: [PropertyPath]?, isNoticing: Bool = false,
        keysScannedPerSearch: Int = Environment.live.keysScannedPerSearch, _ schema: DatabaseSchema
    ) throws(ResolvedPath.Failure) {
        self.plan = plan
        self.owner = owner
        self.schema = schema
        self.keysScannedPerSearch = keysScannedPerSearch
        membership = try QueryDependencies(plan, schema)
        reported = try QueryDependencies(observing: keyPaths, plan.table, schema)
        noticed = isNoticing ? QueryDependencies(depth: 4, table: plan.table, schema) : nil
        collections = plan.collections
        order = SortOrder(ascending: QueryCompiler.directions(plan, schema))
        let layout = schema[plan.table].layout
        let columns = plan.sort.map { term -> Int? in
            guard term.path.components.count == 1, let property = schema[plan.table].type[term.path.names[0]] else {
                return nil
            }
            return layout.columns.firstIndex { $0.property == property.index }
        }
        sortColumns = columns.contains(nil) ? nil : columns.compactMap { $0 }
        var bare = plan
        bare.predicate = nil
        var compiler = QueryCompiler(schema)
        sortKeyQuery = try? compiler.candidates(bare, keyCount: 1)
    }

    package func state(_ handle: SnapshotHandle) throws -> State {
        let exists = try owner.map { try handle.hasRow($0.key, schema[$0.table].layout) } ?? true
        return State(keys: try handle.read { try keys($0) }, isOver: !exists)
    }

    private func keys(_ connection: Connection) throws -> KeySequence {
        var compiler = QueryCompiler(schema)
        let query = try compiler.keys(plan)
        let statement = try connection.statement(query.sql)
        statement.bind(query.arguments)
        var keys: [ObjectKey] = []
        while try statement.step() { keys.append(statement.integer(0)) }
        return KeySequence(keys)
    }

    package func advance(
        _ old: State, _ changes: KnownChanges?, _ handle: SnapshotHandle
    ) throws -> (state: State, change: Change) {
        guard !old.isOver else { return (old, Change()) }
        guard let changes else {
            let new = try state(handle)
            let all = KeySet(new.keys)
            let positions = CollectionDiff.change(from: old.keys, to: new.keys, modified: all, replaced: KeySet())
            return (new, Change(positions: positions, noticed: noticed == nil ? KeySet() : all, modified: all))
        }
        if let owner, changes.changes.tables[owner.table]?.deleted.contains(owner.key) == true {
            let all = CollectionChange(deletions: Array(0..<old.keys.count))
            return (.over, Change(positions: all))
        }
        guard touches(changes.changes) else { return (old, Change()) }
        let (keys, change) = try handle.read { try advance(old.keys, changes, $0) }
        return (State(keys: keys, isOver: false), change)
    }

    package func past(_ change: Change, _ old: State, _ handle: SnapshotHandle) throws -> [PastElement] {
        let keys = old.keys.keys(at: change.positions.deletions)
        return try handle.read { connection in
            try schema.past(
                zip(change.positions.deletions, keys).map { ($0, .integer($1)) }, plan.table, connection)
        }
    }

    func touches(_ changes: ChangeSet) -> Bool {
        membership.touches(changes, table: plan.table) || reported.touches(changes, table: plan.table)
            || noticed?.touches(changes, table: plan.table) == true
            || collections.contains { changes.collections[$0] != nil }
    }

    /// Rows that a change of the file concerns.
    struct TouchedRows {
        /// What is reported of them, without positions.
        var change: Change
        /// Members, or rows that may be members now, and any that may stand elsewhere.
        var all: KeySet
        /// Nil where the way back from changes elsewhere is lost: then any row may be a member, or no longer.
        var moved: KeySet?
    }

    func touchedRows(
        _ old: KeySequence, _ changes: KnownChanges, _ connection: Connection
    ) throws -> TouchedRows {
        let affected = AffectedRows(schema, changes)
        let table = changes.changes.tables[plan.table] ?? TableChanges()
        // Where the way back is lost, every member counts as modified: too much is better than silence.
        let reportedRows = try affected.rows(reported, of: plan.table, connection) ?? KeySet(old)
        let movedRows = try affected.rows(membership, of: plan.table, connection)
        let modified = table.keys(modifiedIn: reported.columns).union(table.replaced).union(reportedRows)
        var change = Change(modified: modified, replaced: table.replaced)
        if let noticed {
            let rows = try affected.rows(noticed, of: plan.table, connection) ?? KeySet(old)
            change.noticed = table.keys(modifiedIn: noticed.columns).union(rows).union(modified).union(table.inserted)
        }
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.sectionUnnoticed) { change.noticed = modified.union(table.inserted) }
        #endif
        let moved = table.keys(modifiedIn: membership.columns).union(movedRows ?? KeySet())
            .union(relinked(changes.changes))
        let touched = modified.union(moved).union(table.inserted).union(table.deleted)
        return TouchedRows(change: change, all: touched, moved: movedRows)
    }

    private func advance(
        _ old: KeySequence, _ changes: KnownChanges, _ connection: Connection
    ) throws -> (keys: KeySequence, change: Change) {
        let rows = try touchedRows(old, changes, connection)
        let (touched, movedRows, modified) = (rows.all, rows.moved, rows.change.modified)
        let table = changes.changes.tables[plan.table] ?? TableChanges()
        var change = rows.change
        if touched.isEmpty && movedRows != nil { return (old, change) }
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.windowNotRefilled), !plan.stages.isEmpty, touched.isDisjoint(with: KeySet(old)) {
                return (old, change)
            }
        #endif
        guard movedRows != nil, plan.stages.isEmpty, touched.count <= max(1_000, old.count / 4) else {
            let new = try keys(connection)
            change.positions = CollectionDiff.change(
                from: old, to: new, modified: modified, replaced: table.replaced)
            return (new, change)
        }
        let inserted = table.inserted.subtracting(table.deleted)
        var maintainer = ResultsMaintainer(
            old: old, order: order, touched: touched, replaced: table.replaced,
            inserted: inserted, reported: modified,
            candidates: try candidates(touched, connection),
            oldSortKeys: isSearched(touched.subtracting(inserted), old)
                ? oldSortKeys(touched, table, changes.oldRows, connection) : [:],
            keysScannedPerSearch: keysScannedPerSearch)
        maintainer.isComplete = plan.predicate == nil
        do {
            let outcome = try maintainer.maintain { key throws(any Error) in
                guard let found = try sortKey(of: key, connection) else { throw MissingRow() }
                return found
            }
            change.positions = outcome.change
            return (outcome.keys, change)
        } catch is MissingRow {
            let new = try keys(connection)
            change.positions = CollectionDiff.change(
                from: old, to: new, modified: modified, replaced: table.replaced)
            return (new, change)
        }
    }

    /// A member has no row: another program deleted it without a change set.
    private struct MissingRow: Error {}

    /// Rows that may have become elements of a collection that the plan is about, or no longer are.
    private func relinked(_ changes: ChangeSet) -> KeySet {
        collections.reduce(into: KeySet()) { rows, id in
            guard changes.collections[id] != nil else { return }
            rows.formUnion(changes.relinked[LinkID(table: id.table, property: id.property)] ?? KeySet())
        }
    }

    func candidates(_ touched: KeySet, _ connection: Connection) throws -> [SortKey] {
        var found: [SortKey] = []
        try KeyBatches.forEach(Array(touched)) { batch in
            var compiler = QueryCompiler(schema)
            let query = try compiler.candidates(plan, keyCount: batch.count)
            let statement = try connection.statement(query.sql)
            statement.bind(query.arguments)
            for (offset, key) in batch.enumerated() { statement.bind(key, at: offset + 1) }
            while try statement.step() {
                found.append(
                    SortKey(values: order.ascending.indices.map { statement.value($0 + 1) }, key: statement.integer(0)))
            }
        }
        return found
    }

    /// Whether old members are looked for by what they were sorted by, and not by passing over all.
    private func isSearched(_ sought: KeySet, _ old: KeySequence) -> Bool {
        sought.count * keysScannedPerSearch <= old.count
    }

    /// Nil when there is no such row.
    func sortKey(of key: ObjectKey, _ connection: Connection) throws(SQLiteError) -> SortKey? {
        guard let query = sortKeyQuery else { return nil }
        let statement = try connection.statement(query.sql)
        // The keys of maps in the sort terms; then the place of the row's key is taken.
        statement.bind(query.arguments)
        statement.bind(key, at: 1)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return SortKey(values: order.ascending.indices.map { statement.value($0 + 1) }, key: key)
    }

    // Rows whose sort columns were not touched have the order they had; others are known by their images, where kept and
    // where the image tells what SQL sorted by. Of those that came and went in between, which collections may have linked
    // to, nothing is known.
    private func oldSortKeys(
        _ touched: KeySet, _ table: TableChanges, _ oldRows: RowImages, _ connection: Connection
    ) -> [ObjectKey: SortKey] {
        guard let sortColumns, !sortColumns.isEmpty else { return [:] }
        let layout = schema[plan.table].layout
        let sorting = ColumnSet(sortColumns.map { layout.columns[$0].property })
        #if MARTLET_SEEDED_BUGS
            let moved = SeededBug.isOn(.newSortKey) ? [] : table.keys(modifiedIn: sorting)
        #else
            let moved = table.keys(modifiedIn: sorting)
        #endif
        let changed = moved.union(table.deleted)
        var keys: [ObjectKey: SortKey] = [:]
        for key in touched {
            if changed.contains(key) {
                guard let row = oldRows.row(key, in: plan.table) else { continue }
                guard let values = sortValues(row, sortColumns, layout) else { return [:] }
                keys[key] = SortKey(values: values, key: key)
            } else if !table.inserted.contains(key), let unchanged = try? sortKey(of: key, connection) {
                keys[key] = unchanged
            }
        }
        return keys
    }

    private func sortValues(_ row: [SQLValue], _ columns: [Int], _ layout: TableLayout) -> [SQLValue]? {
        var values: [SQLValue] = []
        for column in columns {
            let property = schema[plan.table].type.properties[layout.columns[column].property]
            #if MARTLET_SEEDED_BUGS
                if SeededBug.isOn(.imageSortKey) {
                    values += property.element.isFloating ? [row[column], .integer(0)] : [row[column]]
                    continue
                }
            #endif
            guard let parts = property.sortValues(row[column]) else { return nil }
            values += parts
        }
        return values
    }
}
