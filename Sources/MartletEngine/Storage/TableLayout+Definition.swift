import MartletSQLite
package import MartletValues

extension TableLayout {
    /// The statements that create the tables and indexes of a type.
    static func definition(_ type: ObjectTypeSchema) -> [String] {
        [tableDefinition(type)] + type.properties.flatMap { indexes(of: $0, in: type) } + uniqueIndexes(type)
            + type.properties.filter(\.isCollection).flatMap { collectionDefinition($0, in: type) }
    }

    /// The statement that creates the table of the rows.
    static func tableDefinition(_ type: ObjectTypeSchema) -> String {
        let layout = TableLayout(type)
        var columns: [String] = []
        if !layout.keyIsProperty { columns.append("\"_key\" INTEGER PRIMARY KEY") }
        for column in layout.columns {
            columns.append(
                column.name == layout.keyColumn
                    ? "\(column.name) INTEGER PRIMARY KEY" : "\(column.name) \(column.sqlType)")
        }
        if layout.hasSpecials { columns.append("\(specialColumn) BLOB") }
        return "CREATE TABLE \(layout.table) (\(columns.joined(separator: ", "))) STRICT"
    }

    /// The statements that create the indexes for uniqueness: one for each set of properties that must be unique.
    ///
    /// The indexes are not UNIQUE, because values may repeat during a write transaction. `UniqueValues` checks the
    /// values before the commit.
    static func uniqueIndexes(_ type: ObjectTypeSchema) -> [String] {
        type.uniques.enumerated().map { number, properties in
            let names = properties.map { SQLText.identifier(type.properties[$0].name) }.joined(separator: ", ")
            let index = SQLText.identifier("\(type.name).unique.\(number)")
            return "CREATE INDEX \(index) ON \(SQLText.identifier(type.name)) (\(names))"
        }
    }

    /// The statements that create the indexes of one column.
    static func indexes(of property: PropertySchema, in type: ObjectTypeSchema) -> [String] {
        guard property.isColumn else { return [] }
        let table = SQLText.identifier(type.name)
        let column = SQLText.identifier(property.name)
        let index = SQLText.identifier("\(type.name).\(property.name).index")
        if property.index == type.primaryKey {
            return type.hasIntegerKey ? [] : ["CREATE UNIQUE INDEX \(index) ON \(table) (\(column))"]
        }
        if property.isLink {
            return ["CREATE INDEX \(index) ON \(table) (\(column)) WHERE \(column) IS NOT NULL"]
        }
        return property.isIndexed ? ["CREATE INDEX \(index) ON \(table) (\(column))"] : []
    }

    static func collectionDefinition(_ property: PropertySchema, in type: ObjectTypeSchema) -> [String] {
        let name = "\(type.name).\(property.name)"
        var statements = [
            """
            CREATE TABLE \(SQLText.identifier(name)) (owner INTEGER NOT NULL, ordinal INTEGER NOT NULL, \
            count INTEGER NOT NULL, elements BLOB NOT NULL, PRIMARY KEY (owner, ordinal)) STRICT, WITHOUT ROWID
            """
        ]
        if property.isLink {
            statements.append(
                """
                CREATE TABLE \(SQLText.identifier(name + ".targets")) (target INTEGER NOT NULL, owner INTEGER NOT NULL, \
                count INTEGER NOT NULL, PRIMARY KEY (target, owner)) STRICT, WITHOUT ROWID
                """)
        }
        return statements
    }

    /// The column values of a new object whose type has no class in the program.
    package static func zeroRow(_ type: ObjectTypeSchema) -> [SQLValue] {
        type.properties.filter(\.isColumn).map { $0.isOptional ? .null : zero(of: $0.element) }
    }

    /// The statement that creates a full-text index. The index ignores case and diacritics.
    static func definition(of index: FullTextIndex) -> String {
        "CREATE VIRTUAL TABLE \(index.table) USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')"
    }

    /// The value that existing rows get in the column of a new required property without a default.
    package static func zero(of element: ElementType) -> SQLValue {
        switch element {
        case .link, .embedded: .null
        case .intEnum: .integer(0)
        case .stringEnum: .text("")
        case .scalar(let scalar):
            switch scalar {
            case .bool, .int, .int8, .int16, .int32, .int64: .integer(0)
            case .float, .double, .date: .real(0)
            case .string: .text("")
            case .data: .blob([])
            case .decimal128: .blob(DecimalNumber.zero.bytes)
            case .uuid: .blob([UInt8](repeating: 0, count: 16))
            case .objectId: .blob([UInt8](repeating: 0, count: 12))
            case .any: .null
            }
        }
    }
}
