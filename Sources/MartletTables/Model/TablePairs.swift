import MartletSchema

/// A column that exists before and after a migration.
struct ColumnPair {
    let old: ColumnModel
    let new: ColumnModel

    var isConverted: Bool { old.type != new.type }

    /// The condition of the old CHECK constraint, with the new name of the column.
    var oldCheck: String? {
        old.check?.replacing(SQLName.quoted(old.name), with: SQLName.quoted(new.name))
    }

    /// Whether the new CHECK constraint can refuse a value that the old CHECK constraint accepts.
    var acceptsFewer: Bool {
        guard let check = new.check, check != oldCheck else { return false }
        guard let former = oldCheck, former.hasSuffix(")"), let start = former.firstRange(of: " IN ("),
            check.hasPrefix(former[..<start.upperBound])
        else { return true }
        // Both constraints contain the raw values of an enum as a list. A new case can be at any position, so the lists
        // are compared as sets.
        let count = former[..<start.upperBound].count
        return !Self.literals(in: former.dropFirst(count).dropLast()).isSubset(
            of: Self.literals(in: check.dropFirst(count).dropLast()))
    }

    /// The SQL literals in a comma-separated list.
    private static func literals(in list: Substring) -> Set<String> {
        var literals = [""]
        var isInText = false
        for character in list {
            if character == "'" { isInText.toggle() }
            if character == ",", !isInText {
                literals.append("")
            } else if character != " " || isInText {
                literals[literals.count - 1].append(character)
            }
        }
        return Set(literals)
    }
}

/// A table that exists before and after a migration.
struct TablePair {
    let old: TableModel
    let new: TableModel
    /// The columns that both tables have, in the order of the new table.
    let columns: [ColumnPair]
    /// The new names of the columns in `columns`. The keys are the old names.
    let columnNames: [String: String]

    init(_ old: TableModel, _ new: TableModel, currentName: (ColumnModel) -> String?) {
        self.old = old
        self.new = new
        let former = Dictionary(
            old.columns.compactMap { column in currentName(column).map { ($0, column) } },
            uniquingKeysWith: { first, _ in first })
        columns = new.columns.compactMap { column in
            former[column.property].map { ColumnPair(old: $0, new: column) }
        }
        columnNames = Dictionary(columns.map { ($0.old.name, $0.new.name) }) { first, _ in first }
    }

    var addedColumns: [ColumnModel] {
        let kept = Set(columns.map(\.new.name))
        return new.columns.filter { !kept.contains($0.name) }
    }

    var removedColumns: [ColumnModel] { old.columns.filter { columnNames[$0.name] == nil } }

    /// The new names of some old columns; nil if one of these columns was removed.
    func current(_ columns: [String]) -> [String]? {
        let names = columns.compactMap { columnNames[$0] }
        return names.count == columns.count ? names : nil
    }

    /// Whether both tables have the same primary key, so that the migration can keep the rows.
    var hasSameKey: Bool {
        guard current(old.primaryKey) == new.primaryKey, old.singleNull == new.singleNull else { return false }
        return old.primaryKey.allSatisfy { name in columns.first { $0.old.name == name }?.isConverted == false }
            || old.origin.property != nil && columns.count == new.columns.count
    }
}

/// The tables before and after a migration.
struct TablePairs {
    let old: [TableModel]
    let new: [TableModel]
    /// The tables that exist before and after the migration, in the order of the new tables.
    let kept: [TablePair]
    /// The new names of the tables in `kept`. The keys are the old names.
    let tableNames: [String: String]

    /// - Parameter names: nil if types and properties have the same names in both lists.
    init(_ old: [TableModel], _ new: [TableModel], _ names: SchemaNames?) {
        self.old = old
        self.new = new
        var former: [TableModel.Origin: TableModel] = [:]
        for table in old {
            let origin = names.map { $0.current(table.origin) } ?? table.origin
            if let origin { former[origin] = table }
        }
        kept = new.compactMap { table in
            guard let before = former[table.origin] else { return nil }
            let pair = TablePair(before, table) { column in
                guard let names, before.origin.property == nil else { return column.property }
                return names.current(column.property, of: before.origin.type)
            }
            // A list that becomes a set or a map gets other columns, so it counts as another table.
            return before.origin.property == nil || pair.hasSameKey ? pair : nil
        }
        tableNames = Dictionary(kept.map { ($0.old.name, $0.new.name) }) { first, _ in first }
    }

    var created: [TableModel] {
        let names = Set(kept.map(\.new.name))
        return new.filter { !names.contains($0.name) }
    }

    var dropped: [TableModel] { old.filter { tableNames[$0.name] == nil } }

    /// An old reference, with the new names of its column and its target; nil if its column or its target was removed.
    func current(_ key: ForeignKeyModel, in pair: TablePair) -> ForeignKeyModel? {
        guard let column = pair.columnNames[key.column],
            let target = kept.first(where: { $0.old.name == key.table }),
            let targetColumn = target.columnNames[key.targetColumn]
        else { return nil }
        return ForeignKeyModel(
            column: column, table: target.new.name, targetColumn: targetColumn, onDelete: key.onDelete)
    }
}
