import MartletSQLite

/// The tables of an object type: their names, columns and fixed SQL.
///
/// A type has one STRICT table. Its rows are identified by an integer key: the primary key of the type if it is an
/// integer, otherwise the column `_key`. Links are indexed columns. A list, set or map has a table of chunks and, if it
/// contains links, a table of its targets. The column `_special` contains the bits of floating-point values that REAL
/// cannot store (NaN, negative zero).
package struct TableLayout: Sendable {
    package struct Column: Sendable {
        package let property: PropertyIndex
        package let name: String
        package let sqlType: String
    }

    /// A property whose values are stored in a separate table.
    package struct Collection: Sendable {
        package let property: PropertyIndex
        package let chunkTable: String
        /// The table of targets. Nil for collections of scalars.
        package let targetTable: String?
    }

    /// A property with a full-text index.
    package struct FullTextIndex: Sendable {
        package let property: PropertyIndex
        package let table: String
        /// SQL that writes the entry of a row. Its parameters are the key and the text.
        package let replace: String
        /// SQL that deletes the entry of a row. Its parameter is the key.
        package let delete: String
    }

    package let name: String
    /// The quoted table name.
    package let table: String
    /// The quoted name of the column that is the object key.
    package let keyColumn: String
    package let columns: [Column]
    package let collections: [Collection]
    package let fullTextIndexes: [FullTextIndex]
    package let hasSpecials: Bool
    /// SQLite's built-in name for the key of a row. It is valid for every name of the key column, and is used while a
    /// schema changes.
    let rowIDColumn = "_rowid_"
    private let columnByProperty: [Int]

    package static let specialColumn = "\"_special\""

    package init(_ type: ObjectTypeSchema) {
        name = type.name
        table = SQLText.identifier(type.name)
        let integerKey = type.hasIntegerKey ? type.primaryKey : nil
        keyColumn = integerKey.map { SQLText.identifier(type.properties[$0].name) } ?? "\"_key\""
        columns = type.properties.filter(\.isColumn).map {
            Column(property: $0.index, name: SQLText.identifier($0.name), sqlType: Self.sqlType(of: $0.element))
        }
        collections = type.properties.filter(\.isCollection).map {
            let name = "\(type.name).\($0.name)"
            return Collection(
                property: $0.index, chunkTable: SQLText.identifier(name),
                targetTable: $0.isLink ? SQLText.identifier(name + ".targets") : nil)
        }
        fullTextIndexes = type.properties.filter(\.isFullText).map {
            let table = SQLText.identifier("\(type.name).\($0.name).words")
            return FullTextIndex(
                property: $0.index, table: table,
                replace: "INSERT OR REPLACE INTO \(table)(rowid, text) VALUES (?1, ?2)",
                delete: "DELETE FROM \(table) WHERE rowid = ?1")
        }
        hasSpecials = type.properties.contains { $0.isColumn && $0.element.isFloating }
        var positions = [Int](repeating: -1, count: type.properties.count)
        for (position, column) in columns.enumerated() { positions[column.property] = position }
        columnByProperty = positions
    }

    /// The column of a property. Nil for collections and linking objects.
    package func column(of property: PropertyIndex) -> Column? {
        columnByProperty[property] < 0 ? nil : columns[columnByProperty[property]]
    }

    package func collection(of property: PropertyIndex) -> Collection {
        guard let collection = collections.first(where: { $0.property == property }) else {
            preconditionFailure("property \(property) of '\(name)' is not a collection")
        }
        return collection
    }

    /// The columns of a full row: all columns in schema order, then `_special` if there is one, then the key.
    package var rowColumns: String { names.joined(separator: ", ") }

    private var names: [String] { columns.map(\.name) + (hasSpecials ? [Self.specialColumn] : []) + [keyColumn] }

    package var selectByKey: String { selectByKey(names) }

    package var selectRange: String { selectRange(names) }

    /// SQL that reads columns of the row with a key.
    func selectByKey(_ names: [String]) -> String {
        "SELECT \(names.joined(separator: ", ")) FROM \(table) WHERE \(keyColumn) = ?1"
    }

    /// SQL that reads columns of all rows in a range of keys.
    func selectRange(_ names: [String]) -> String {
        "SELECT \(names.joined(separator: ", ")) FROM \(table) WHERE \(keyColumn) BETWEEN ?1 AND ?2 "
            + "ORDER BY \(keyColumn)"
    }

    /// SQL that inserts a row. Its parameters are the columns in schema order, then `_special` if there is one, and
    /// then the key if the key is the column `_key`.
    package var insert: String {
        var names = columns.map(\.name)
        if hasSpecials { names.append(Self.specialColumn) }
        if keyColumn == "\"_key\"" { names.append(keyColumn) }
        let marks = (1...max(names.count, 1)).map { "?\($0)" }.joined(separator: ", ")
        return "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(marks))"
    }

    package var keyIsProperty: Bool { keyColumn != "\"_key\"" }

    /// SQL that writes columns of a row. Its parameters are the given columns in schema order, then `_special` if there
    /// is one, and then the key.
    package func update(_ positions: [Int]) -> String {
        var names = positions.map { columns[$0].name }
        if hasSpecials { names.append(Self.specialColumn) }
        let assignments = names.enumerated().map { "\($1) = ?\($0 + 1)" }.joined(separator: ", ")
        return "UPDATE \(table) SET \(assignments) WHERE \(keyColumn) = ?\(names.count + 1)"
    }

    package var delete: String { "DELETE FROM \(table) WHERE \(keyColumn) = ?1" }

    static func sqlType(of element: ElementType) -> String {
        switch element {
        case .intEnum, .link, .embedded: "INTEGER"
        case .stringEnum: "TEXT"
        case .scalar(let scalar):
            switch scalar {
            case .bool, .int, .int8, .int16, .int32, .int64: "INTEGER"
            case .float, .double, .date: "REAL"
            case .string: "TEXT"
            case .data, .uuid, .objectId, .decimal128: "BLOB"
            case .any: "ANY"
            }
        }
    }
}
