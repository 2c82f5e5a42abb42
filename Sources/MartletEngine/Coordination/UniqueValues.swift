import MartletSQLite
import MartletValues

/// Checks the uniqueness rules for the rows that a write changes.
///
/// The indexes of unique properties are not unique indexes, so values may repeat while a write is in progress. A row is
/// not compared with other rows if one of the values that must be unique together is nil.
struct UniqueValues {
    private let schema: DatabaseSchema
    private let connection: Connection

    init(_ schema: DatabaseSchema, _ connection: Connection) {
        self.schema = schema
        self.connection = connection
    }

    /// One set of properties of one type.
    private struct UniqueSet {
        let table: DatabaseSchema.Table
        let properties: [PropertyIndex]

        var columns: [String] {
            properties.map { SQLText.identifier(table.type.properties[$0].name) }
        }

        var key: String { table.layout.keyColumn }

        /// An SQL condition: true for rows whose values are compared.
        var isComplete: String { columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ") }
    }

    private typealias Pair = (first: ObjectKey, second: ObjectKey)

    /// Checks the rows that the changes insert or modify. Throws if one of these rows repeats values of another row
    /// that must be unique.
    func check(_ changes: ChangeSet) throws {
        for (id, change) in changes.tables.sorted(by: { $0.key < $1.key }) {
            guard let table = schema.tables[id] else { continue }
            for properties in table.type.uniques {
                let touched = change.inserted.union(change.keys(modifiedIn: ColumnSet(properties)))
                let set = UniqueSet(table: table, properties: properties)
                guard !touched.isEmpty, let pair = try duplicate(touched, set) else { continue }
                throw try violation(pair, set)
            }
        }
    }

    /// Finds two rows with the same values. At least one of the two rows is in `touched`.
    private func duplicate(_ touched: KeySet, _ set: UniqueSet) throws -> Pair? {
        guard try isMostOfTable(touched.count, set) else { return try probe(touched, set) }
        // The touched rows are a large part of the table, so one scan of the index costs less than one search for each
        // row. Equal values are adjacent in the index.
        let all = try connection.integer("SELECT count(*) FROM \(set.table.layout.table) WHERE \(set.isComplete)")
        let different = try connection.integer(
            "SELECT count(*) FROM (SELECT DISTINCT \(set.columns.joined(separator: ", ")) "
                + "FROM \(set.table.layout.table) WHERE \(set.isComplete))")
        return all == different ? nil : try probe(touched, set)
    }

    /// True if scanning all rows costs less than one search for each touched row.
    private func isMostOfTable(_ count: Int, _ set: UniqueSet) throws -> Bool {
        guard count >= Self.minimumScanned else { return false }
        let (key, table) = (set.key, set.table.layout.table)
        let (limit, limitOverflows) = Int64(count).multipliedReportingOverflow(by: Self.scannedPerProbe)
        if limitOverflows { return true }
        guard let last = try connection.integer("SELECT max(\(key)) FROM \(table)"),
            let first = try connection.integer("SELECT min(\(key)) FROM \(table)")
        else { return false }
        let (span, spanOverflows) = last.subtractingReportingOverflow(first)
        if !spanOverflows && span < limit { return true }
        let rows = try connection.integer(
            "SELECT count(*) FROM (SELECT 1 FROM \(table) LIMIT ?1)", [.integer(limit)])
        return rows ?? limit < limit
    }

    private static let minimumScanned = 64
    /// The number of index rows that can be read in the time of one search.
    private static let scannedPerProbe: Int64 = 4

    private func probe(_ touched: KeySet, _ set: UniqueSet) throws -> Pair? {
        let (key, table) = (set.key, set.table.layout.table)
        let isEqual = set.columns.map { "a.\($0) = b.\($0)" }.joined(separator: " AND ")
        let statement = try connection.statement(
            "SELECT a.\(key), b.\(key) FROM \(table) a CROSS JOIN \(table) b ON \(isEqual) AND a.\(key) <> b.\(key) "
                + "WHERE a.\(key) BETWEEN ?1 AND ?2 LIMIT 1")
        for run in touched.ranges {
            statement.bind(run.lowerBound, at: 1)
            statement.bind(run.upperBound, at: 2)
            guard try statement.step() else { continue }
            let pair = (statement.integer(0), statement.integer(1))
            statement.reset()
            return pair.0 < pair.1 ? pair : (pair.1, pair.0)
        }
        return nil
    }

    private func violation(_ pair: Pair, _ set: UniqueSet) throws -> EngineError {
        let values = try set.properties.map { index -> String in
            let property = set.table.type.properties[index]
            let value = try connection.value(
                "SELECT \(SQLText.identifier(property.name)) FROM \(set.table.layout.table) WHERE \(set.key) = ?1",
                [.integer(pair.first)])
            return "'\(property.name)' \(ValueText.text(value ?? .null, property.element))"
        }
        let (first, second) = (
            try set.table.name(of: pair.first, connection), try set.table.name(of: pair.second, connection)
        )
        return EngineError(
            .uniqueViolation, path: connection.options.path,
            "\(first) and \(second) both have \(values.joined(separator: " and ")), which must be unique; "
                + "the whole write was rolled back; "
                + "give one of them \(values.count == 1 ? "another value" : "other values")")
    }
}

/// The unique indexes of older files. With such an index, SQLite checks uniqueness in each statement, and not only when
/// the write ends.
struct UniqueIndexes {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    private static let condition = "type = 'index' AND name GLOB '*.unique.[0-9]*' AND sql LIKE 'CREATE UNIQUE INDEX %'"

    /// True if the file has such indexes.
    func exist(in types: [(id: TableID, type: ObjectTypeSchema)]) throws -> Bool {
        guard types.contains(where: { !$0.type.uniques.isEmpty }) else { return false }
        return try connection.integer("SELECT 1 FROM sqlite_schema WHERE \(Self.condition) LIMIT 1") == 1
    }

    /// Replaces the unique indexes by indexes that are not unique.
    func makeNonUnique() throws {
        let statement = try connection.statement("SELECT name, sql FROM sqlite_schema WHERE \(Self.condition)")
        var found: [(name: String, sql: String)] = []
        while try statement.step() { found.append((statement.text(0), statement.text(1))) }
        for index in found {
            try connection.execute("DROP INDEX \(SQLText.identifier(index.name))")
            try connection.execute("CREATE INDEX" + index.sql.dropFirst("CREATE UNIQUE INDEX".count))
        }
    }
}
