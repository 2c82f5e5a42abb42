package import MartletSQLite
package import MartletValues

/// Reads and writes the rows of one type for one Realm.
///
/// It caches the statements of frequent operations, because finding a statement by its text costs as much as running
/// it.
///
/// Thread safety: the caller of a method that takes a connection holds the lock of the snapshot, because several
/// threads may read a frozen Realm. All other members are used only on the executor of the Realm.
package final class RowStore {
    package let table: TableID
    package let type: ObjectTypeSchema
    package let layout: TableLayout
    /// The full-text indexes. They change when a program with other full-text properties opens the file.
    @exclusivity(unchecked) var fullTextIndexes: [TableLayout.FullTextIndex]
    /// The `AnyRealmValue` properties that are not collections. Their values may contain links.
    package let anyRealmValueColumns: [PropertyIndex]
    /// True if the type has `AnyRealmValue` properties or collections of `AnyRealmValue`.
    package let hasAnyRealmValues: Bool
    /// All columns.
    package let wholeRow: RowSelection
    /// The selections that were used before.
    var selections: [LoadedProperties: RowSelection] = [:]
    /// The queries of the type that were compiled before.
    package let compiledQueries = CompiledQueries()
    private let insertSQL: String
    @exclusivity(unchecked) private var insertStatement: Statement?
    @exclusivity(unchecked) private var selectStatement: Statement?
    @exclusivity(unchecked) private var findStatement: Statement?
    private var updateStatements: [PropertyMask: Statement] = [:]
    let texts: TextArena

    package init(_ table: DatabaseSchema.Table, _ texts: TextArena) {
        self.texts = texts
        self.table = table.id
        type = table.type
        layout = table.layout
        fullTextIndexes = table.layout.fullTextIndexes
        anyRealmValueColumns = table.type.properties.filter { $0.isAny && $0.isColumn }.map(\.index)
        hasAnyRealmValues = table.type.properties.contains(where: \.isAny)
        wholeRow = RowSelection(table.layout)
        insertSQL = table.layout.insert
    }

    /// Adopts the full-text indexes of a newer schema of the file.
    package func update(from table: DatabaseSchema.Table) { fullTextIndexes = table.layout.fullTextIndexes }

    /// Releases the cached statements. The caller does this before the connection is used for other purposes.
    package func releaseStatements() {
        insertStatement = nil
        selectStatement = nil
        findStatement = nil
        updateStatements = [:]
        compiledQueries.releaseStatements()
    }

    // MARK: Statements

    func insertStatement(_ connection: Connection) throws -> Statement {
        if let known = insertStatement, known.belongs(to: connection) { return known }
        let statement = try connection.statement(insertSQL)
        insertStatement = statement
        return statement
    }

    func selectStatement(_ connection: Connection) throws -> Statement {
        if let known = selectStatement, known.belongs(to: connection) { return known }
        let statement = try connection.statement(wholeRow.selectByKey)
        selectStatement = statement
        return statement
    }

    private func findStatement(_ connection: Connection) throws -> Statement? {
        if let known = findStatement, known.belongs(to: connection) { return known }
        guard let column = primaryKeyColumn else { return nil }
        let statement = try connection.statement(
            "SELECT \(layout.rowColumns) FROM \(layout.table) WHERE \(column.name) = ?1")
        findStatement = statement
        return statement
    }

    /// The statement that writes the columns of the properties in `mask`. Nil if none of these properties has a column.
    func updateStatement(_ mask: PropertyMask, _ connection: Connection) throws -> Statement? {
        if let known = updateStatements[mask], known.belongs(to: connection) { return known }
        let positions = layout.columns.indices.filter { mask.contains(layout.columns[$0].property) }
        if positions.isEmpty { return nil }
        let statement = try connection.statement(layout.update(positions))
        updateStatements[mask] = statement
        return statement
    }

    private var primaryKeyColumn: TableLayout.Column? { type.primaryKey.flatMap(layout.column) }

    // MARK: Reading

    /// Calls `body` with the columns of a row. Returns nil if the row does not exist.
    package func withRow<R>(_ key: ObjectKey, _ connection: Connection, _ body: (RowColumns) throws -> R) throws -> R? {
        let statement = try selectStatement(connection)
        statement.bind(key, at: 1)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return try body(RowColumns(statement))
    }

    /// Calls `body` with the columns of the row that has a primary key value. Returns nil if there is no such row, or
    /// if the type has no primary key.
    package func withRow<R>(
        primaryKey value: SQLValue, _ connection: Connection, _ body: (RowColumns) throws -> R
    ) throws -> R? {
        guard let statement = try findStatement(connection) else { return nil }
        statement.bind(value, at: 1)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return try body(RowColumns(statement))
    }

    /// The key of the row with a primary key value. Nil if there is no such row, or if the type has no primary key.
    package func key(primaryKey value: SQLValue, _ connection: Connection) throws -> ObjectKey? {
        guard let column = primaryKeyColumn else { return nil }
        return try connection.integer(
            "SELECT \(layout.keyColumn) FROM \(layout.table) WHERE \(column.name) = ?1", [value])
    }

    package func exists(_ key: ObjectKey, _ connection: Connection) throws -> Bool {
        try connection.integer("SELECT 1 FROM \(layout.table) WHERE \(layout.keyColumn) = ?1", [.integer(key)]) == 1
    }

    package func isEmpty(_ connection: Connection) throws -> Bool {
        try connection.integer("SELECT 1 FROM \(layout.table) LIMIT 1") == nil
    }

    /// The stored value of one column of a row. Nil if the row does not exist, or if the property has no column.
    func value(of property: PropertyIndex, _ key: ObjectKey, _ connection: Connection) throws -> SQLValue? {
        guard let column = layout.column(of: property) else { return nil }
        return try connection.value(
            "SELECT \(column.name) FROM \(layout.table) WHERE \(layout.keyColumn) = ?1", [.integer(key)])
    }

    // MARK: Keys

    /// The keys of all rows.
    package func keys(_ connection: Connection) throws -> [ObjectKey] {
        try connection.keys("SELECT \(layout.keyColumn) FROM \(layout.table)")
    }

    /// The greatest key. Nil if there are no rows.
    package func lastKey(_ connection: Connection) throws -> ObjectKey? {
        let column = layout.keyColumn
        return try connection.keys(
            "SELECT max(\(column)) FROM \(layout.table) HAVING max(\(column)) IS NOT NULL"
        ).first
    }

    /// The first `limit` keys in a range, in ascending order.
    package func keys(in range: ClosedRange<ObjectKey>, limit: Int, _ connection: Connection) throws -> [ObjectKey] {
        let column = layout.keyColumn
        return try connection.keys(
            "SELECT \(column) FROM \(layout.table) WHERE \(column) BETWEEN ?1 AND ?2 ORDER BY \(column) LIMIT \(limit)",
            [.integer(range.lowerBound), .integer(range.upperBound)])
    }
}

extension Connection {
    /// The integers in the first column of a query's rows.
    func keys(_ sql: String, _ arguments: [SQLValue] = []) throws -> [ObjectKey] {
        let statement = try statement(sql)
        statement.bind(arguments)
        var keys: [ObjectKey] = []
        while try statement.step() { keys.append(statement.integer(0)) }
        return keys
    }
}
