import MartletSchema

/// The tables between the two parts of a migration that loses data: programs of both schemas can use them.
///
/// They contain what either schema contains, with the weaker of two constraints. Columns whose type changes still have
/// the old type.
struct IntermediateTables {
    let pairs: TablePairs

    func tables() -> [TableModel] {
        let kept = Dictionary(pairs.kept.map { ($0.new.name, $0) }) { first, _ in first }
        return pairs.new.map { table in kept[table.name].map(merged) ?? table }
            + pairs.dropped.map(renamed)
    }

    private func merged(_ pair: TablePair) -> TableModel {
        var table = pair.new
        let former = Dictionary(pair.columns.map { ($0.new.name, $0) }) { first, _ in first }
        table.columns =
            pair.new.columns.map { column in former[column.name].map(merged) ?? column }
            + pair.removedColumns.map(relaxed)
        let uniques = Set(pair.old.unique.compactMap(pair.current))
        table.unique = pair.new.unique.filter(uniques.contains)
        let indexes = pair.old.indexes.map { pair.columnNames[$0] ?? $0 }
        table.indexes = pair.new.indexes + indexes.filter { !pair.new.indexes.contains($0) }
        table.foreignKeys = foreignKeys(pair)
        return table
    }

    private func merged(_ pair: ColumnPair) -> ColumnModel {
        var column = pair.new
        column.type = pair.old.type
        column.isRequired = pair.old.isRequired && pair.new.isRequired
        column.defaultText = pair.isConverted ? pair.old.defaultText : pair.new.defaultText
        column.check = pair.oldCheck == pair.new.check ? pair.new.check : nil
        return column
    }

    /// A removed column, which programs of the new schema leave out.
    private func relaxed(_ old: ColumnModel) -> ColumnModel {
        var column = old
        column.isRequired = old.isRequired && old.defaultText != nil
        return column
    }

    private func foreignKeys(_ pair: TablePair) -> [ForeignKeyModel] {
        var keys: [ForeignKeyModel] = []
        for key in pair.old.foreignKeys {
            guard let column = pair.columnNames[key.column] else {
                keys.append(retargeted(key, column: key.column))
                continue
            }
            let current = pairs.current(key, in: pair)
            let now = pair.new.foreignKeys.first { $0.column == column }
            // A changed target needs a migration of the values, a changed action does not.
            if let now, current?.table == now.table, current?.targetColumn == now.targetColumn {
                keys.append(now)
            } else {
                keys.append(retargeted(key, column: column))
            }
        }
        let known = Set(pair.columns.map(\.new.name))
        return keys + pair.new.foreignKeys.filter { !known.contains($0.column) }
    }

    /// A table that only the old schema has, with the new names of the tables to which it refers.
    private func renamed(_ table: TableModel) -> TableModel {
        var table = table
        table.foreignKeys = table.foreignKeys.map { retargeted($0, column: $0.column) }
        // The rules of what does not exist any more may name columns that have other names now. So its rows are hidden
        // from all users.
        table.policies = table.policies.map { policy in
            PolicyModel(
                command: policy.command, using: policy.using.map { _ in "false" },
                check: policy.check.map { _ in "false" })
        }
        table.columnRules = []
        return table
    }

    private func retargeted(_ key: ForeignKeyModel, column: String) -> ForeignKeyModel {
        let target = pairs.kept.first { $0.old.name == key.table }
        return ForeignKeyModel(
            column: column, table: target?.new.name ?? key.table,
            targetColumn: target?.columnNames[key.targetColumn] ?? key.targetColumn, onDelete: key.onDelete)
    }
}
