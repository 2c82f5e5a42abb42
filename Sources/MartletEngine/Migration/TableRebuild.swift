import MartletSQLite
import MartletValues

/// Creates the tables of one type again, and fills them with the converted values of the file.
///
/// Rows keep their keys. The old rows are read from the version before the migration, through another connection.
struct TableRebuild {
    let previous: PreviousType
    /// The new type with its layout during the migration: without unique indexes, and possibly without a primary key.
    let type: ObjectTypeSchema
    let declaration: TypeDeclaration
    /// For each property whose values are copied or converted: the conversion from the property in the file.
    let converters: [PropertyIndex: PropertyConverter]
    let connection: Connection

    func run(_ unconverted: inout UnconvertedValues) throws {
        connection.finalizeStatements()
        try moveKeptCollections()
        try connection.execute(TableLayout.tableDefinition(type))
        let layout = TableLayout(type)
        for property in type.properties where property.isCollection && !isKept(property) {
            for statement in TableLayout.collectionDefinition(property, in: type) { try connection.execute(statement) }
        }
        let last = try fill(layout, &unconverted)
        for property in type.properties {
            for statement in TableLayout.indexes(of: property, in: type) { try connection.execute(statement) }
        }
        // While a type has an integer primary key, its insertions do not advance `next_key`. So the keys of its rows
        // may be higher than `next_key`.
        if last <= Self.highestCounted {
            try connection.run(
                "UPDATE martlet_types SET next_key = max(next_key, ?2) WHERE name = ?1",
                [.text(type.name), .integer(last + 1)])
        } else {
            try connection.run(
                "UPDATE martlet_types SET next_key = ?2 WHERE name = ?1",
                [.text(type.name), .integer(try freeKey(layout))])
        }
    }

    /// If all keys are at most this number, new keys continue after the highest key.
    private static let highestCounted = ObjectKey.max / 2

    // Returns the lowest key of the widest gap below or between the existing keys. It is used for new rows if a key is
    // above `highestCounted`, because too few keys may be left above that key.
    private func freeKey(_ layout: TableLayout) throws -> ObjectKey {
        let statement = try connection.statement("SELECT _rowid_ FROM \(layout.table) ORDER BY _rowid_")
        defer { statement.reset() }
        var (start, width): (ObjectKey, UInt64) = (1, 0)
        var last = ObjectKey.min
        while try statement.step() {
            let key = statement.integer(0)
            let distance = UInt64(bitPattern: key &- last)
            if distance > width { (start, width) = (last + 1, distance) }
            last = key
        }
        return start
    }

    // MARK: Unchanged collections

    private func isKept(_ property: PropertySchema) -> Bool {
        guard property.isCollection, let converter = converters[property.index] else { return false }
        return converter.isIdentity
    }

    // Renames the tables of the kept collections, and drops all other tables of the type. Intermediate names are
    // needed because two collections may have swapped names.
    private func moveKeptCollections() throws {
        let kept = type.properties.filter(isKept)
        let suffixes = try connection.tableSuffixes(type.name + ".")
        for property in kept {
            guard let old = converters[property.index]?.old.name else { continue }
            for part in ["", ".targets"] where suffixes.contains(old + part) {
                try connection.renameTable("\(type.name).\(old)\(part)", "martlet.kept.\(property.name)\(part)")
            }
        }
        for suffix in try connection.tableSuffixes(type.name + ".") {
            try connection.execute("DROP TABLE \(SQLText.identifier("\(type.name).\(suffix)"))")
        }
        try connection.execute("DROP TABLE \(SQLText.identifier(type.name))")
        for suffix in try connection.tableSuffixes("martlet.kept.") {
            try connection.renameTable("martlet.kept.\(suffix)", "\(type.name).\(suffix)")
        }
    }

    // MARK: Rows

    /// Inserts the converted rows. Returns the highest key, or zero if no key is positive.
    private func fill(_ layout: TableLayout, _ unconverted: inout UnconvertedValues) throws -> ObjectKey {
        let defaults = RowDefaults(declaration)
        let insert = try connection.statement(layout.insert)
        let collections = type.properties.filter { $0.isCollection && converters[$0.index] != nil && !isKept($0) }
        let select = try previous.connection.statement(previous.select + " ORDER BY \(previous.layout.keyColumn)")
        defer { select.reset() }
        var last: ObjectKey = 0
        while try select.step() {
            let key = previous.key(select)
            var row = RowValues(insert)
            for (position, column) in layout.columns.enumerated() {
                let property = type.properties[column.property]
                guard let converter = converters[property.index] else {
                    row.append(defaults.value(of: property, position), property.index)
                    continue
                }
                let converted = converter.convert(try previous.elements(of: converter.old, select))
                if converted == nil { unconverted.insert(key, property.index, of: type.name) }
                let value = converted?.first ?? .null
                let isMissing = converted == nil || (value == .null && !property.canStoreNull)
                row.append(isMissing ? defaults.value(of: property, position) : value, property.index)
            }
            try row.insert(layout, key)
            for property in collections {
                guard let converter = converters[property.index],
                    let elements = converter.convert(try previous.elements(of: converter.old, select))
                else {
                    unconverted.insert(key, property.index, of: type.name)
                    continue
                }
                try CollectionRows(property, layout, connection).write(elements, owner: key)
            }
            last = max(last, key)
        }
        return last
    }
}

/// The default values of columns. The initializer computes two default rows. If a column has the same value in both,
/// all rows get this value. Otherwise, as for `UUID()` and `Date()`, the generated class computes a value for each row.
private struct RowDefaults {
    private let declaration: TypeDeclaration
    private let first: [SQLValue]
    private let second: [SQLValue]

    init(_ declaration: TypeDeclaration) {
        self.declaration = declaration
        first = declaration.defaultRow()
        second = declaration.defaultRow()
    }

    func value(of property: PropertySchema, _ position: Int) -> SQLValue {
        guard first[position] == second[position] else { return declaration.defaultValue(of: property, position) }
        return property.initialValue(first[position])
    }
}

/// Binds the values of one row to the parameters of an INSERT statement, in order.
private struct RowValues {
    private let statement: Statement
    private var parameter = 1
    private var specials: [UInt8] = []

    init(_ statement: Statement) { self.statement = statement }

    mutating func append(_ value: SQLValue, _ property: PropertyIndex) {
        if case .real(let number) = value, FloatingSpecials.needsBits(number) {
            FloatingSpecials.append(number, of: property, to: &specials)
        }
        statement.bind(value, at: parameter)
        parameter += 1
    }

    mutating func insert(_ layout: TableLayout, _ key: ObjectKey) throws {
        if layout.hasSpecials {
            statement.bind(specials.isEmpty ? SQLValue.null : .blob(specials), at: parameter)
            parameter += 1
        }
        if !layout.keyIsProperty { statement.bind(key, at: parameter) }
        try statement.run()
    }
}
