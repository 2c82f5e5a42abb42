import Foundation
import MartletSQLite
package import MartletValues

/// The columns of one open file that this process keeps in memory, so that conditions, counts and aggregates do not
/// have to read every row from the file.
///
/// Columns belong to a version of the file. They are advanced to a newer version with the change sets of the commits in
/// between, which name every row and property that differs. Whenever that is not possible, the columns are dropped and
/// the query is answered from the file.
///
/// A column is read when a query needs it for the second time: until then, reading it could cost more than it saves.
/// It is read by the thread that asks, from the snapshot of the query, so no work in the background keeps the file open.
///
/// Thread safety: `lock` guards the variables. A thread that does not get the lock reads the file instead.
// Sendable as described above.
package final class ColumnStore: @unchecked Sendable {
    /// The columns of a table, and the versions of the file at which they are valid.
    private struct Span {
        let first: Version
        var last: Version
        let columns: TableColumns
    }

    private struct Table {
        /// Oldest first, at most `maximumSpans`.
        var spans: [Span] = []
        /// The columns that queries needed before they were in memory, with the number of times.
        var wanted: [PropertyIndex: Int] = [:]
        /// The columns that contain values which do not fit the schema, or that did not fit into the memory.
        var refused: ColumnSet = []
        /// The limit of the memory when columns were refused.
        var refusedLimit = 0

        /// Counts a query that needs columns. Returns true if each of them was needed often enough to be read.
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

    /// The number of members of a plan. Nil if it cannot be computed from columns.
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
            // Without a condition, an index has the least and the greatest value at its ends.
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

    // The sum of floating-point numbers depends on their order. True if SQLite may add them in another order than that
    // of their keys, because it reads an index, or in another way (since version 3.43).
    private static func hasOwnOrder(
        _ function: Predicate.Aggregate, _ property: PropertySchema, _ kind: ColumnKind, _ plan: QueryPlan,
        _ type: ObjectTypeSchema
    ) -> Bool {
        guard function.isArithmetic, kind == .real else { return false }
        guard Connection.libraryVersion < 3_043_000, property.element != .scalar(.date) else { return true }
        let condition = plan.predicate.flatMap { ColumnCondition($0, type) }?.properties ?? []
        return ([property.index] + condition).contains { type.hasIndex($0) }
    }

    // In tests, compares an answer from columns with that of the file.
    func checked<R: Equatable>(_ answer: R, _ plan: QueryPlan, _ expected: () throws -> R) throws -> R {
        if let report = options.onDifference, case let expected = try expected(), expected != answer {
            report("\(answer) instead of \(expected), for \(plan)")
        }
        return answer
    }

    /// The number of rows that a table had when it was last counted. Nil if it is not known.
    package func rowCount(_ table: TableID) -> Int? {
        guard lock.try() else { return nil }
        defer { lock.unlock() }
        return rowCounts[table]?.rows
    }

    // MARK: Columns

    // The number of rows of the table of a plan. It is counted once and then advanced with change sets. Nil for versions
    // before the last one for which it was asked.
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

    // Drops everything if the snapshot has a newer epoch. Returns false if it has an older one.
    private func adoptEpoch(of handle: SnapshotHandle) -> Bool {
        guard handle.epoch >= epoch else { return false }
        if handle.epoch > epoch {
            for table in tables.keys { drop(table) }
            (tables, rowCounts, epoch) = ([:], [:], handle.epoch)
        }
        return true
    }

    // The scan of a plan, if its columns are in memory or can be read now.
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
        // Columns of a version before the newest span are not read: later queries would need them for newer versions.
        guard mayRead, version >= state.spans.last?.first ?? 0 else { return nil }
        if state.refusedLimit != budget.byteLimit { (state.refused, state.refusedLimit) = ([], budget.byteLimit) }
        defer { tables[table] = state }
        guard properties.isDisjoint(with: state.refused),
            state.count(properties, least: options.queriesBeforeReading)
        else { return nil }
        return try read(properties, of: table, &state, source)
    }

    // Reads columns from the file, together with those that are in memory already, so that all have the same blocks.
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
        record(columns, source.schema[table])
        return columns
    }

    // A number that is not less than the number of rows, from the least and greatest key.
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

    // Advances the newest columns of a table to the version of a snapshot, or drops them.
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
        record(columns, source.schema[table])
    }

    // Drops the columns of a table. They are read again after further queries.
    private func drop(_ table: TableID) {
        for property in tables[table]?.spans.last?.columns.properties ?? [] { budget.remove(id(table, property)) }
        tables[table]?.spans = []
        tables[table]?.wanted = [:]
    }

    /// Drops one column, unless another thread uses the columns of the file now.
    func drop(_ property: PropertyIndex, of table: TableID) {
        guard lock.try() else { return }
        defer { lock.unlock() }
        guard let state = tables[table], let span = state.spans.last else { return }
        budget.count { $0.evictions += 1 }
        guard let rest = span.columns.removing(property) else { return drop(table) }
        budget.remove(id(table, property))
        tables[table]?.spans = [Span(first: span.first, last: span.last, columns: rest)]
        tables[table]?.wanted[property] = nil
    }

    private func record(_ columns: TableColumns, _ table: DatabaseSchema.Table) {
        // The keys are counted with the first column.
        var keys = columns.keyByteCount
        for property in columns.properties {
            budget.record(
                id(table.id, property), of: self,
                ColumnStatistics.Column(
                    path: path, type: table.type.name, property: table.type.properties[property].name,
                    byteCount: columns.byteCount(of: property) + keys))
            keys = 0
        }
    }

    private func id(_ table: TableID, _ property: PropertyIndex) -> ColumnBudget.ColumnID {
        ColumnBudget.ColumnID(store: ObjectIdentifier(self), table: table, property: property)
    }
}
