import MartletSchema

/// The tables between the two parts of a migration that loses data. Programs with the old schema and programs with the
/// new schema can use these tables.
///
/// The tables contain the columns of both schemas. If both schemas have a column, it is required only if both schemas
/// require it. Unique and check constraints apply only if both schemas have them. A reference whose target changes
/// keeps its old target. A column whose type changes keeps its old type.
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

    /// The column for a removed property. Programs with the new schema do not write it, so the column is required only
    /// if it has a default.
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
            // If only the action has changed, all values are still valid. If the target has changed, the values are not
            // valid for the new target, so the reference keeps its old target.
            if let now, current?.table == now.table, current?.targetColumn == now.targetColumn {
                keys.append(now)
            } else {
                keys.append(retargeted(key, column: column))
            }
        }
        let known = Set(pair.columns.map(\.new.name))
        return keys + pair.new.foreignKeys.filter { !known.contains($0.column) }
    }

    /// The table for a type or collection that only the old schema has. Its references get the new names of their
    /// targets.
    private func renamed(_ table: TableModel) -> TableModel {
        var table = table
        table.foreignKeys = table.foreignKeys.map { retargeted($0, column: $0.column) }
        // The policies of a removed table can contain old names of columns that were renamed. These policies are
        // replaced by policies that hide the rows from all users.
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
