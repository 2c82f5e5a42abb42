import MartletSQLite
import MartletValues

/// Computes the ordered keys of one result from version to version, and the changes between the versions.
///
/// The tracker queries only the affected rows, with three exceptions. It queries a result with `distinct` or a limit in
/// full if a change can affect membership or order, because another row may then appear. It queries any result in full if
/// very many rows are affected, or if the affected rows cannot be determined. In these cases it computes the difference
/// by comparing the old and the new keys.
package struct ResultsTracker: CollectionTracker {
    package struct State: TrackedState {
        /// The members in order.
        package let keys: KeySequence
        package let isInvalidated: Bool
        package static let invalidated = State(keys: KeySequence(), isInvalidated: true)
    }

    package struct Change: TrackedChange {
        package var positions = CollectionChange()
        /// Rows that were created, or whose content changed, including changes that the key paths do not name.
        package var changed = KeySet()
        /// Rows that are reported as modified if they are members.
        package var modified = KeySet()
        /// Rows that were deleted and created again with the same key, so that they are different objects.
        package var replaced = KeySet()
        package var isEmpty: Bool { positions.isEmpty && changed.isEmpty }
    }

    package let plan: QueryPlan
    package let owner: CollectionOwner?
    let schema: DatabaseSchema
    private let membership: QueryDependencies
    /// The changes of a member that count as modifications.
    private let reportedChanges: QueryDependencies
    /// The dependencies for `Change.changed`; nil if only the changes that key paths name are needed.
    private let allDependencies: QueryDependencies?
    let order: SortOrder
    /// The collections in which the query looks for rows. Their edits can add and remove members without changing the
    /// rows of the members.
    private let collections: [CollectionID]
    private let keysScannedPerSearch: Int
    /// The positions of the sort columns in a row, if the result is sorted only by properties of the rows themselves.
    private let sortColumns: [Int]?
    /// Reads the sort values of one row, even if the row does not match the query.
    private let sortKeyQuery: QueryCompiler.Query?

    /// - Parameters:
    ///   - keyPaths: the changes that count as modifications; nil for all changes of an element and of objects up to
    ///     three links away.
    ///   - tracksAll: true to also find changes that the key paths do not name, up to three links away.
    package init(
        _ plan: QueryPlan, owner: CollectionOwner? = nil, keyPaths: [PropertyPath]?, tracksAll: Bool = false,
        keysScannedPerSearch: Int = Environment.live.keysScannedPerSearch, _ schema: DatabaseSchema
    ) throws(ResolvedPath.Failure) {
        self.plan = plan
        self.owner = owner
        self.schema = schema
        self.keysScannedPerSearch = keysScannedPerSearch
        membership = try QueryDependencies(plan, schema)
        reportedChanges = try QueryDependencies(observing: keyPaths, plan.table, schema)
        allDependencies = tracksAll ? QueryDependencies(depth: 4, table: plan.table, schema) : nil
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
        return State(keys: try handle.read { try keys($0) }, isInvalidated: !exists)
    }

    private func keys(_ connection: Connection) throws -> KeySequence {
        KeySequence(try QueryRunner(plan, schema).keys(connection))
    }

    package func advance(
        _ old: State, _ changes: VersionChanges?, _ handle: SnapshotHandle
    ) throws -> (state: State, change: Change) {
        guard !old.isInvalidated else { return (old, Change()) }
        guard let changes else {
            let new = try state(handle)
            let all = KeySet(new.keys)
            let positions = CollectionDiff.change(from: old.keys, to: new.keys, modified: all, replaced: KeySet())
            return (new, Change(positions: positions, changed: allDependencies == nil ? KeySet() : all, modified: all))
        }
        if let owner, changes.changes.tables[owner.table]?.deleted.contains(owner.key) == true {
            let all = CollectionChange(deletions: Array(0..<old.keys.count))
            return (.invalidated, Change(positions: all))
        }
        guard touches(changes.changes) else { return (old, Change()) }
        let (keys, change) = try handle.read { try advance(old.keys, changes, $0) }
        return (State(keys: keys, isInvalidated: false), change)
    }

    package func removedElements(_ change: Change, _ old: State, _ handle: SnapshotHandle) throws -> [RemovedElement] {
        let keys = old.keys.keys(at: change.positions.deletions)
        return try handle.read { connection in
            try schema.removedElements(
                zip(change.positions.deletions, keys).map { ($0, .integer($1)) }, plan.table, connection)
        }
    }

    func touches(_ changes: ChangeSet) -> Bool {
        membership.touches(changes, table: plan.table) || reportedChanges.touches(changes, table: plan.table)
            || allDependencies?.touches(changes, table: plan.table) == true
            || collections.contains { changes.collections[$0] != nil }
    }

    /// The rows that a change set affects.
    struct TouchedRows {
        /// The change to report, without positions.
        var change: Change
        /// All rows whose content, membership or position may have changed.
        var all: KeySet
        /// True if a row was inserted, deleted or replaced, or if a change can affect membership or order.
        var canMove: Bool
        /// Rows whose membership or position may have changed because of other rows to which they link. Nil if these
        /// rows cannot be found by following links backwards. In that case any row may have become a member or have
        /// ceased to be a member.
        var affectedThroughLinks: KeySet?
    }

    func touchedRows(
        _ old: KeySequence, _ changes: VersionChanges, _ connection: Connection
    ) throws -> TouchedRows {
        let affected = AffectedRows(schema, changes)
        let table = changes.changes.tables[plan.table] ?? TableChanges()
        // `affectedRows` returns nil if the links cannot be followed backwards. Then every member counts as modified,
        // because it is better to report too many members than to miss one.
        let reportedRows = try affected.affectedRows(reportedChanges, of: plan.table, connection) ?? KeySet(old)
        let movedRows = try affected.affectedRows(membership, of: plan.table, connection)
        let modified = table.keys(modifiedIn: reportedChanges.columns).union(table.replaced).union(reportedRows)
        var change = Change(modified: modified, replaced: table.replaced)
        let moved = table.keys(modifiedIn: membership.columns).union(movedRows ?? KeySet())
            .union(changedTargets(changes.changes))
        if let all = allDependencies {
            let rows = try affected.affectedRows(all, of: plan.table, connection) ?? KeySet(old)
            change.changed = table.keys(modifiedIn: all.columns).union(rows).union(modified).union(table.inserted)
            // The result may be sorted by a path that is longer than the paths in `allDependencies`, so the rows that
            // may have moved are added.
            change.changed.formUnion(movedRows == nil ? KeySet(old) : moved)
        }
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.sectionUnnoticed) { change.changed = modified.union(table.inserted) }
        #endif
        let moving = moved.union(table.inserted).union(table.deleted).union(table.replaced)
        return TouchedRows(
            change: change, all: modified.union(moving), canMove: movedRows == nil || !moving.isEmpty,
            affectedThroughLinks: movedRows)
    }

    private func advance(
        _ old: KeySequence, _ changes: VersionChanges, _ connection: Connection
    ) throws -> (keys: KeySequence, change: Change) {
        let rows = try touchedRows(old, changes, connection)
        let (touched, movedRows, modified) = (rows.all, rows.affectedThroughLinks, rows.change.modified)
        let table = changes.changes.tables[plan.table] ?? TableChanges()
        var change = rows.change
        if touched.isEmpty && movedRows != nil { return (old, change) }
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.windowNotRefilled), !plan.stages.isEmpty, touched.isDisjoint(with: KeySet(old)) {
                return (old, change)
            }
        #endif
        if !rows.canMove, !plan.stages.isEmpty || !isSearched(modified, old) {
            let positions = old.positions(of: modified)
            change.positions = CollectionChange(modifications: positions, modificationsNew: positions)
            return (old, change)
        }
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
            let outcome = try maintainer.advance { key throws(any Error) in
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

    /// Thrown if a member has no row, because another program deleted the row without storing a change set.
    private struct MissingRow: Error {}

    /// Rows that may have become elements of a collection in which the query looks for rows, or that may have ceased to
    /// be elements.
    private func changedTargets(_ changes: ChangeSet) -> KeySet {
        collections.reduce(into: KeySet()) { rows, id in
            guard changes.collections[id] != nil else { return }
            rows.formUnion(changes.changedTargets[LinkID(table: id.table, property: id.property)] ?? KeySet())
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

    /// True if `ResultsMaintainer` finds old members by searching for their sort keys, and not by a scan.
    private func isSearched(_ searched: KeySet, _ old: KeySequence) -> Bool {
        searched.count * keysScannedPerSearch <= old.count
    }

    /// Reads the sort values of a row. Returns nil if the row does not exist.
    func sortKey(of key: ObjectKey, _ connection: Connection) throws(SQLiteError) -> SortKey? {
        guard let query = sortKeyQuery else { return nil }
        let statement = try connection.statement(query.sql)
        // The first argument is a placeholder, which the next call replaces with the key of the row. The other
        // arguments are keys of maps in the sort terms.
        statement.bind(query.arguments)
        statement.bind(key, at: 1)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return SortKey(values: order.ascending.indices.map { statement.value($0 + 1) }, key: key)
    }

    // The old sort keys of touched rows. If the sort columns of a row were not written, its old sort key equals its
    // current sort key. Otherwise the sort key is computed from the old image of the row, if one is stored. If the
    // result is sorted through links, no sort keys are returned, because the image of a row contains only its own
    // columns. A row that was both inserted and deleted between the versions has no sort key. Such a row can be among
    // the touched rows because a collection linked to it.
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
                keys[key] = SortKey(values: sortValues(row, sortColumns, layout), key: key)
            } else if !table.inserted.contains(key), let unchanged = try? sortKey(of: key, connection) {
                keys[key] = unchanged
            }
        }
        return keys
    }

    private func sortValues(_ row: [SQLValue], _ columns: [Int], _ layout: TableLayout) -> [SQLValue] {
        var values: [SQLValue] = []
        for column in columns {
            let property = schema[plan.table].type.properties[layout.columns[column].property]
            #if MARTLET_SEEDED_BUGS
                if SeededBug.isOn(.imageSortKey) {
                    values += property.element.isFloating ? [row[column], .integer(0)] : [row[column]]
                    continue
                }
            #endif
            values += property.sortValues(row[column])
        }
        return values
    }
}
