import Foundation
import MartletSQLite
package import MartletValues

/// The columns of one open file that this process keeps in memory. With these columns, conditions, counts and
/// aggregates do not have to read every row from the file.
///
/// Columns belong to a version of the file. To advance them to a newer version, the store merges the change sets of the
/// commits in between, and reads the changed rows again. If a change set is missing or too many rows have changed, the
/// store drops the columns, and SQLite runs the query.
///
/// The second query that needs a column reads it. For a single query, reading the column could cost more than it saves.
/// The thread of the query reads the column from the snapshot of the query. So no background work keeps the file open.
///
/// Thread safety: `lock` guards the variables. If another thread holds the lock, a query does not wait for it, and
/// SQLite runs the query.
// Sendable as described above.
package final class ColumnStore: @unchecked Sendable {
    /// The columns of a table, and the versions of the file at which they are valid.
    private struct Span {
        let first: Version
        var last: Version
        let columns: TableColumns
    }

    private struct Table {
        /// The spans, oldest first. There are at most `maximumSpans`.
        var spans: [Span] = []
        /// For each column that is not in memory, the number of queries that needed the column.
        var wanted: [PropertyIndex: Int] = [:]
        /// The columns that cannot be kept in memory, because a value does not have the type of the property, or
        /// because the columns would exceed the memory limit.
        var refused: ColumnSet = []
        /// The memory limit at the time when columns were refused. After a change of the limit, the refused columns are
        /// tried again.
        var refusedLimit = 0

        /// Counts a query that needs columns. Returns true if at least `least` queries have needed each of these
        /// columns.
        mutating func count(_ properties: ColumnSet, least: Int) -> Bool {
            var isEnough = true
            for property in properties {
                wanted[property, default: 0] += 1
                if wanted[property, default: 0] < least { isEnough = false }
            }
            return isEnough
        }
    }

    /// The number of rows of a table at a version.
    private struct RowCount {
        let version: Version
        let rows: Int
    }

    private static let maximumSpans = 4

    private var budget: ColumnBudget { options.budget }
    let options: ColumnOptions
    private let path: String
    private let lock = NSLock()
    private var epoch: Int64 = 0
    private var tables: [TableID: Table] = [:]
    private var rowCounts: [TableID: RowCount] = [:]

    package init(path: String, _ options: ColumnOptions) {
        self.path = path
        self.options = options
    }

    deinit { budget.remove(ObjectIdentifier(self)) }

    // MARK: Queries

    /// The number of members of a plan. Nil if the number cannot be computed from columns.
    package func count(_ plan: QueryPlan, _ source: ColumnSource) throws -> Int? {
        if plan.predicate == nil {
            guard plan.source == nil, plan.stages.isEmpty, let count = try rowCount(plan, source) else { return nil }
            return try checked(count, plan) {
                try source.handle.read { try QueryRunner(plan, source.schema).count($0) }
            }
        }
        guard let scan = try scan(plan, [], source) else { return nil }
        return try checked(scan.count(), plan) {
            try source.handle.read { try QueryRunner(plan, source.schema).count($0) }
        }
    }

    /// The keys of the members of a plan, at most `limit`. Nil if they cannot be computed from columns.
    package func keys(_ plan: QueryPlan, limit: Int?, _ source: ColumnSource) throws -> [ObjectKey]? {
        guard plan.predicate != nil, plan.sort.isEmpty,
            let scan = try scan(plan, [], source, isScan: limit == nil)
        else { return nil }
        return try checked(scan.keys(limit: limit), plan) {
            try source.handle.read { try QueryRunner(plan, source.schema).keys(limit: limit, $0) }
        }
    }

    /// The result of an aggregate function over a property of the members of a plan. Nil if it cannot be computed from
    /// columns.
    package func aggregate(
        _ function: Predicate.Aggregate, _ path: PropertyPath, isRequired: Bool, _ plan: QueryPlan,
        _ source: ColumnSource
    ) throws -> SQLValue? {
        let type = source.schema[plan.table].type
        guard let property = path.column(of: type), let kind = ColumnKind(property), kind != .text,
            !Self.hasOwnOrder(function, property, kind, plan, type),
            // Without a condition, SQLite reads the least or the greatest value from the end of an index.
            function.isArithmetic || plan.predicate != nil || !type.hasIndex(property.index),
            let scan = try scan(plan, [property.index], source),
            let value = scan.value(of: function, property.index, kind)
        else { return nil }
        return try checked(value, plan) {
            try source.handle.read {
                try QueryRunner(plan, source.schema).aggregate(function, path, isRequired: isRequired, $0)
            }
        }
    }

    // The sum of floating-point numbers depends on the order of the additions. Returns true if SQLite may compute
    // another sum than columns, which add in the order of the keys. SQLite may add in the order of an index, and since
    // version 3.43 it compensates rounding errors.
    private static func hasOwnOrder(
        _ function: Predicate.Aggregate, _ property: PropertySchema, _ kind: ColumnKind, _ plan: QueryPlan,
        _ type: ObjectTypeSchema
    ) -> Bool {
        guard function.isArithmetic, kind == .real else { return false }
        guard Connection.libraryVersion < 3_043_000, property.element != .scalar(.date) else { return true }
        let condition = plan.predicate.flatMap { ColumnCondition($0, type) }?.properties ?? []
        return ([property.index] + condition).contains { type.hasIndex($0) }
    }

    // If `onDifference` is set, compares an answer from columns with the answer of SQLite.
    func checked<R: Equatable>(_ answer: R, _ plan: QueryPlan, _ expected: () throws -> R) throws -> R {
        if let report = options.onDifference, case let expected = try expected(), expected != answer {
            report("\(answer) instead of \(expected), for \(plan)")
        }
        return answer
    }

    /// The number of rows that a table had at the last call of `count`. Nil if the number is unknown or another thread
    /// holds the lock.
    package func rowCount(_ table: TableID) -> Int? {
        guard lock.try() else { return nil }
        defer { lock.unlock() }
        return rowCounts[table]?.rows
    }

    // MARK: Columns

    // The number of rows of the table of a plan. SQLite counts the rows once. After that, change sets update the
    // number. Nil if the snapshot is older than the version of the known number.
    private func rowCount(_ plan: QueryPlan, _ source: ColumnSource) throws -> Int? {
        guard source.handle.isUnmodified, lock.try() else { return nil }
        defer { lock.unlock() }
        guard adoptEpoch(of: source.handle) else { return nil }
        let version = source.handle.version
        var rows: Int?
        if let known = rowCounts[plan.table] {
            if known.version == version { return known.rows }
            if known.version > version { return nil }
            if let changes = try source.changes(known.version) {
                let table = changes.tables[plan.table]
                rows = known.rows + (table?.inserted.count ?? 0) - (table?.deleted.count ?? 0)
            }
        }
        let count = try rows ?? source.handle.read { try QueryRunner(plan, source.schema).count($0) }
        rowCounts[plan.table] = RowCount(version: version, rows: count)
        return count
    }

    // Drops all columns if the snapshot has a newer epoch. Returns false if the snapshot has an older epoch.
    private func adoptEpoch(of handle: SnapshotHandle) -> Bool {
        guard handle.epoch >= epoch else { return false }
        if handle.epoch > epoch {
            for table in tables.keys { drop(table) }
            (tables, rowCounts, epoch) = ([:], [:], handle.epoch)
        }
        return true
    }

    // The scan of a plan. Nil if the columns that the plan needs are not in memory and cannot be read now.
    func scan(
        _ plan: QueryPlan, _ further: ColumnSet, _ source: ColumnSource, isScan: Bool = true
    ) throws -> ColumnScan? {
        guard plan.source == nil, plan.stages.isEmpty, budget.byteLimit > 0 else { return nil }
        let type = source.schema[plan.table].type
        var condition: ColumnCondition?
        if let predicate = plan.predicate {
            guard let converted = ColumnCondition(predicate, type), !converted.usesIndex(type.hasIndex) else {
                return nil
            }
            condition = converted
        }
        let properties = (condition?.properties ?? []).union(further)
        guard !properties.isEmpty, source.handle.isUnmodified, lock.try() else { return nil }
        let found = Result { try columns(properties, of: plan.table, source, mayRead: isScan) }
        lock.unlock()
        let isHit = (try? found.get()) != nil
        budget.count { if isHit { $0.hits += 1 } else { $0.misses += 1 } }
        budget.evict()
        guard let columns = try found.get() else { return nil }
        budget.recordUse(self, plan.table, properties)
        return ColumnScan(table: columns, condition: condition)
    }

    private func columns(
        _ properties: ColumnSet, of table: TableID, _ source: ColumnSource, mayRead: Bool
    ) throws -> TableColumns? {
        guard adoptEpoch(of: source.handle) else { return nil }
        let version = source.handle.version
        if let newest = tables[table]?.spans.last, newest.last < version { try advance(table, source) }
        var state = tables[table] ?? Table()
        if let span = state.spans.last(where: { $0.first <= version && version <= $0.last }),
            properties.isSubset(of: span.columns.properties)
        {
            return span.columns
        }
        // If the snapshot is older than the newest span, the columns are not read, because most later queries read
        // newer versions.
        guard mayRead, version >= state.spans.last?.first ?? 0 else { return nil }
        if state.refusedLimit != budget.byteLimit { (state.refused, state.refusedLimit) = ([], budget.byteLimit) }
        defer { tables[table] = state }
        guard properties.isDisjoint(with: state.refused),
            state.count(properties, least: options.queriesBeforeReading)
        else { return nil }
        return try read(properties, of: table, &state, source)
    }

    // Reads columns from the file. Also reads the columns that are already in memory again, because the blocks of all
    // columns must contain the same rows.
    private func read(
        _ properties: ColumnSet, of table: TableID, _ state: inout Table, _ source: ColumnSource
    ) throws -> TableColumns? {
        let reader = ColumnReader(
            source.schema[table], properties.union(state.spans.last?.columns.properties ?? []))
        let isLarge = try source.handle.read {
            try Self.rowBound(reader.layout, $0) >= options.leastRows
        }
        guard isLarge else {
            state.wanted = [:]
            return nil
        }
        guard let columns = try source.handle.read({ try reader.read($0, byteLimit: state.refusedLimit) }) else {
            state.refused.formUnion(properties)
            return nil
        }
        budget.count { $0.reads += 1 }
        state.spans = [Span(first: source.handle.version, last: source.handle.version, columns: columns)]
        record(state.spans, source.schema[table])
        return columns
    }

    // The greatest key minus the least key. A table has at most one row more than this number.
    private static func rowBound(_ layout: TableLayout, _ connection: Connection) throws -> Int64 {
        let statement = try connection.statement(
            "SELECT (SELECT min(\(layout.keyColumn)) FROM \(layout.table)), max(\(layout.keyColumn)) FROM \(layout.table)"
        )
        defer { statement.reset() }
        guard try statement.step(), let least = statement.validInteger(0), let greatest = statement.validInteger(1)
        else { return 0 }
        let (difference, overflow) = greatest.subtractingReportingOverflow(least)
        return overflow ? .max : difference
    }

    // Advances the newest columns of a table to the version of a snapshot. Drops the columns if this is not possible.
    private func advance(_ table: TableID, _ source: ColumnSource) throws {
        guard var state = tables[table], var newest = state.spans.last else { return }
        let version = source.handle.version
        guard let all = try source.changes(newest.last) else { return drop(table) }
        let changes = all.tables[table] ?? TableChanges()
        let properties = newest.columns.properties
        let rows = changes.inserted.union(changes.keys(modifiedIn: properties))
        if rows.isEmpty && changes.deleted.isEmpty {
            newest.last = version
            state.spans[state.spans.count - 1] = newest
            tables[table] = state
            return
        }
        guard rows.count <= max(64, newest.columns.rowCount / 8) else { return drop(table) }
        let reader = ColumnReader(source.schema[table], properties)
        guard let read = try source.handle.read({ try reader.read(rows, $0) }) else { return drop(table) }
        let columns = newest.columns.applying(deleted: changes.deleted, rows: read, reader)
        state.spans.append(Span(first: version, last: version, columns: columns))
        if state.spans.count > Self.maximumSpans { state.spans.removeFirst() }
        tables[table] = state
        record(state.spans, source.schema[table])
    }

    // Drops the columns of a table. Later queries that need them are counted from zero.
    private func drop(_ table: TableID) {
        for property in tables[table]?.spans.last?.columns.properties ?? [] { budget.remove(id(table, property)) }
        tables[table]?.spans = []
        tables[table]?.wanted = [:]
    }

    /// Drops one column. Does nothing if another thread holds the lock.
    func drop(_ property: PropertyIndex, of table: TableID) {
        guard lock.try() else { return }
        defer { lock.unlock() }
        guard let state = tables[table], let span = state.spans.last else { return }
        budget.count { $0.evictions += 1 }
        guard let rest = span.columns.removing(property) else { return drop(table) }
        budget.remove(id(table, property))
        tables[table]?.spans = [Span(first: span.first, last: span.last, columns: rest)]
        tables[table]?.wanted[property] = nil
        for (property, bytes) in byteCounts([rest]) { budget.resize(id(table, property), byteCount: bytes) }
    }

    private func record(_ spans: [Span], _ table: DatabaseSchema.Table) {
        for (property, bytes) in byteCounts(spans.map(\.columns)) {
            budget.record(
                id(table.id, property), of: self,
                ColumnStatistics.Column(
                    path: path, type: table.type.name, property: table.type.properties[property].name,
                    byteCount: bytes))
        }
    }

    // The bytes of each column of the newest span. They include the blocks that only older spans contain. The memory of
    // the keys is added to the first column.
    private func byteCounts(_ spans: [TableColumns]) -> [(property: PropertyIndex, bytes: Int)] {
        guard let newest = spans.last else { return [] }
        var keys = TableColumns.byteCount(spans.map(\.keys), id: { ObjectIdentifier($0) }, bytes: \.byteCount)
        return newest.properties.map { property in
            defer { keys = 0 }
            let blocks = spans.map { $0.columns[property] ?? [] }
            return (property, keys + TableColumns.byteCount(blocks, id: \.id, bytes: \.byteCount))
        }
    }

    private func id(_ table: TableID, _ property: PropertyIndex) -> ColumnBudget.ColumnID {
        ColumnBudget.ColumnID(store: ObjectIdentifier(self), table: table, property: property)
    }
}
