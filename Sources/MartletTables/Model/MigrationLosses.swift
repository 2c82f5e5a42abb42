import MartletSchema

extension TablePairs {
    /// Messages for the author of the schema. They describe the data that the migration would lose, and the new
    /// constraints that existing rows may violate.
    func losses() -> [String] {
        dropped.map { table in
            let what = table.origin.property.map { "'\(table.origin.type).\($0)'" } ?? "type '\(table.origin.type)'"
            return "\(what) has no table any more, and the rows of '\(table.name)' would be lost"
        } + kept.flatMap(losses)
    }

    private func losses(_ pair: TablePair) -> [String] {
        let owner = pair.new.origin.property.map { "\(pair.new.origin.type).\($0)" }
        func name(_ column: ColumnModel) -> String { "'\(owner ?? "\(pair.new.origin.type).\(column.property)")'" }
        var losses = pair.removedColumns.map { "\(name($0)) has no column any more, and its values would be lost" }
        for column in pair.columns {
            if column.isConverted {
                losses.append("\(name(column.new)) was '\(column.old.type)' and is '\(column.new.type)' in SQL")
            }
            if column.new.isRequired, !column.old.isRequired {
                losses.append("\(name(column.new)) is required now, and existing rows may contain NULL in it")
            }
            if column.acceptsFewer {
                let isKey = owner == nil && pair.new.primaryKey.contains(column.new.name)
                let loss = "\(name(column.new)) accepts fewer values now"
                losses.append(isKey ? "the primary key \(loss), and objects with other keys would be deleted" : loss)
            }
        }
        for key in pair.old.foreignKeys {
            guard let column = pair.columnNames[key.column],
                let now = pair.new.foreignKeys.first(where: { $0.column == column }),
                current(key, in: pair)?.table != now.table
            else { continue }
            losses.append(
                "\(owner.map { "'\($0)'" } ?? "column '\(column)' of '\(pair.new.name)'") links to another type")
        }
        let uniques = Set(pair.old.unique.compactMap(pair.current))
        for columns in pair.new.unique where !uniques.contains(columns) {
            losses.append(
                "\(columns.map { "'\($0)'" }.joined(separator: " and ")) of '\(pair.new.name)' must be unique now")
        }
        return losses
    }
}

extension TablePairs {
    /// Messages for the author of the schema about the changes that no migration can perform.
    func problems(_ schema: SchemaModel) -> [String] {
        let keys = kept.filter { !$0.hasSameKey }.map {
            "the primary key of '\($0.new.origin.type)' was changed; keep the old one, or add a type with another name"
        }
        let removed = Set(dropped.map(\.name))
        let clashes = created.filter { removed.contains($0.name) }.map { table in
            let name = "\(table.origin.type)\(table.origin.property.map { ".\($0)" } ?? "")"
            return
                "table '\(table.name)' of '\(name)' cannot keep its rows, because its primary key changes (for "
                + "example, a list became a set); "
                + "add \(table.origin.property == nil ? "a type" : "a property") with another name"
        }
        return keys + clashes + kept.flatMap { columnProblems($0, schema) }
    }

    private func columnProblems(_ pair: TablePair, _ schema: SchemaModel) -> [String] {
        let type = pair.new.origin.type
        let names = Set(pair.new.columns.map(\.name))
        let clashes = pair.removedColumns.filter { names.contains($0.name) }.map {
            "'\(type).\($0.property)' was removed, and another property has its column '\($0.name)' now; give that "
                + "property another name"
        }
        guard pair.new.origin.property == nil, let object = schema.object(named: type) else { return clashes }
        let rules = object.sync.rules.values + object.properties.compactMap(\.sync.write)
        let used = Set(rules.flatMap(\.condition.paths).map(\.property))
        return clashes
            + pair.columns.filter { $0.isConverted && used.contains($0.new.property) }.map {
                "'\(type).\($0.new.property)' has another type, and a rule compares it; add a property with another name"
            }
    }
}
