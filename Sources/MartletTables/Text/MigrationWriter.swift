import MartletSchema

/// Writes the statements that change the tables of an old schema into the tables of a new schema.
///
/// The first statements remove rules, references, tables and constraints with which later statements would conflict.
/// The following statements rename tables, columns and constraints. Then statements change columns, and the last
/// statements add new items.
struct MigrationWriter {
    private let pairs: TablePairs
    private let updates: [String]
    private let former: TableWriter
    private let current: TableWriter

    /// - Parameter updates: statements that change rows of the new tables. They run at a time when no policy can hide
    ///   rows from them.
    init(_ pairs: TablePairs, updates: [String] = []) {
        self.pairs = pairs
        self.updates = updates
        former = TableWriter(names: ConstraintNames(pairs.old))
        current = TableWriter(names: ConstraintNames(pairs.new))
    }

    /// The statements of the migration; empty if the tables are equal.
    func statements() -> [String] {
        let structure =
            removals() + renames() + pairs.kept.flatMap(columnChanges) + additions() + updates
        let hasOtherRules = rules(pairs.old) != rules(pairs.new)
        // Policies depend on columns, and hide rows even from the role that owns the tables. Therefore the first
        // statements remove the policies, and the last statements create them again.
        guard hasOtherRules || !structure.isEmpty && pairs.old.contains(where: { !$0.policies.isEmpty }) else {
            return structure + comments()
        }
        return pairs.old.flatMap { RuleWriter.removal($0, named: $0.name) } + schemaRemoval() + structure + comments()
            + schemaAddition() + RuleWriter.statements(pairs.new)
    }

    private struct Rules: Hashable {
        let table: String
        let policies: [PolicyModel]
        let columns: [ColumnRuleModel]
    }

    private func rules(_ tables: [TableModel]) -> Set<Rules> {
        Set(
            tables.filter { !$0.policies.isEmpty }.map {
                Rules(table: $0.name, policies: $0.policies, columns: $0.columnRules)
            })
    }

    private func schemaRemoval() -> [String] {
        RuleWriter.hasColumnRules(pairs.old) && !RuleWriter.hasColumnRules(pairs.new)
            ? ["DROP SCHEMA martlet_rules;"] : []
    }

    private func schemaAddition() -> [String] {
        RuleWriter.hasColumnRules(pairs.new) ? ["CREATE SCHEMA IF NOT EXISTS martlet_rules;"] : []
    }

    // MARK: Removals

    private func removals() -> [String] {
        let references = pairs.old.flatMap { table in
            table.foreignKeys.filter { isRemoved($0, table) }.map {
                drop(constraint: former.names.foreignKey(table.name, $0.column), of: table.name)
            }
        }
        let tables = pairs.dropped.map { SQLName.quoted($0.name) }
        let dropping = tables.isEmpty ? [] : ["DROP TABLE \(tables.joined(separator: ", "));"]
        return references + dropping + pairs.kept.flatMap(constraintRemovals)
    }

    private func isRemoved(_ key: ForeignKeyModel, _ table: TableModel) -> Bool {
        guard let pair = pairs.kept.first(where: { $0.old.name == table.name }) else { return true }
        guard let key = pairs.current(key, in: pair) else { return true }
        return !pair.new.foreignKeys.contains(key)
    }

    private func drop(constraint name: String, of table: String) -> String {
        "ALTER TABLE \(SQLName.quoted(table)) DROP CONSTRAINT \(SQLName.quoted(name));"
    }

    private func constraintRemovals(_ pair: TablePair) -> [String] {
        let uniques = pair.old.unique.filter { list in pair.current(list).map { !pair.new.unique.contains($0) } ?? true
        }
        let indexes = pair.old.indexes.filter { name in
            pair.columnNames[name].map { !pair.new.indexes.contains($0) } ?? true
        }
        let checks = pair.columns.filter { $0.old.check != nil && ($0.oldCheck != $0.new.check || $0.isConverted) }
        return uniques.map { drop(constraint: former.names.unique(pair.old.name, $0), of: pair.old.name) }
            + indexes.map { "DROP INDEX \(SQLName.quoted(former.names.index(pair.old.name, $0)));" }
            + checks.map { drop(constraint: former.names.check(pair.old.name, $0.old.name), of: pair.old.name) }
    }

    // MARK: Names

    private func renames() -> [String] {
        let tables = pairs.kept.filter { $0.old.name != $0.new.name }
        // If a table gets the old name of another renamed table, all renamed tables get temporary names first.
        let taken = Set(tables.map(\.old.name))
        let isExchange = tables.contains { taken.contains($0.new.name) }
        func rename(_ old: String, _ new: String) -> String {
            "ALTER TABLE \(SQLName.quoted(old)) RENAME TO \(SQLName.quoted(new));"
        }
        let first = isExchange ? tables.enumerated().map { rename($1.old.name, "martlet_renamed_\($0)") } : []
        let second = tables.enumerated().map { rename(isExchange ? "martlet_renamed_\($0)" : $1.old.name, $1.new.name) }
        return first + second + pairs.kept.flatMap(columnRenames) + constraintRenames()
    }

    private func columnRenames(_ pair: TablePair) -> [String] {
        let columns = pair.columns.filter { $0.old.name != $0.new.name }
        let taken = Set(pair.old.columns.map(\.name))
        let isExchange = columns.contains { taken.contains($0.new.name) }
        func rename(_ old: String, _ new: String) -> String {
            "ALTER TABLE \(SQLName.quoted(pair.new.name)) RENAME COLUMN \(SQLName.quoted(old)) TO \(SQLName.quoted(new));"
        }
        let first = isExchange ? columns.enumerated().map { rename($1.old.name, "martlet_renamed_\($0)") } : []
        return first
            + columns.enumerated().map { rename(isExchange ? "martlet_renamed_\($0)" : $1.old.name, $1.new.name) }
    }

    /// The statements that rename the remaining constraints and indexes. Their new names are the names that newly
    /// created tables would have.
    private func constraintRenames() -> [String] {
        var constraints: [(table: String, old: String, new: String)] = []
        var indexes: [(old: String, new: String)] = []
        for pair in pairs.kept {
            let (old, new) = (pair.old.name, pair.new.name)
            if !pair.old.primaryKey.isEmpty {
                constraints.append((new, former.names.primaryKey(old), current.names.primaryKey(new)))
            }
            for list in pair.old.unique {
                guard let now = pair.current(list), pair.new.unique.contains(now) else { continue }
                constraints.append((new, former.names.unique(old, list), current.names.unique(new, now)))
            }
            for column in pair.columns where column.old.check != nil && column.oldCheck == column.new.check {
                guard !column.isConverted else { continue }
                constraints.append(
                    (new, former.names.check(old, column.old.name), current.names.check(new, column.new.name)))
            }
            for key in pair.old.foreignKeys where !isRemoved(key, pair.old) {
                let column = pair.columnNames[key.column] ?? key.column
                constraints.append(
                    (new, former.names.foreignKey(old, key.column), current.names.foreignKey(new, column)))
            }
            for name in pair.old.indexes {
                guard let now = pair.columnNames[name], pair.new.indexes.contains(now) else { continue }
                indexes.append((former.names.index(old, name), current.names.index(new, now)))
            }
            if pair.old.singleNull != nil {
                indexes.append((former.names.index(old, "owner"), current.names.index(new, "owner")))
            }
        }
        let changed = constraints.filter { $0.old != $0.new }
        let moved = indexes.filter { $0.old != $0.new }
        // If a constraint or index gets the old name of another renamed constraint or index, all renamed constraints
        // and indexes get temporary names first.
        let taken = Set(changed.map(\.old) + moved.map(\.old))
        let isExchange = (changed.map(\.new) + moved.map(\.new)).contains(where: taken.contains)
        func constraint(_ table: String, _ old: String, _ new: String) -> String {
            "ALTER TABLE \(SQLName.quoted(table)) RENAME CONSTRAINT \(SQLName.quoted(old)) TO \(SQLName.quoted(new));"
        }
        func index(_ old: String, _ new: String) -> String {
            "ALTER INDEX \(SQLName.quoted(old)) RENAME TO \(SQLName.quoted(new));"
        }
        guard isExchange else {
            return changed.map { constraint($0.table, $0.old, $0.new) } + moved.map { index($0.old, $0.new) }
        }
        return changed.enumerated().map { constraint($1.table, $1.old, "martlet_constraint_\($0)") }
            + moved.enumerated().map { index($1.old, "martlet_index_\($0)") }
            + changed.enumerated().map { constraint($1.table, "martlet_constraint_\($0)", $1.new) }
            + moved.enumerated().map { index("martlet_index_\($0)", $1.new) }
    }

    // MARK: Columns

    private func columnChanges(_ pair: TablePair) -> [String] {
        let removed = pair.removedColumns.map { column in
            "ALTER TABLE \(SQLName.quoted(pair.new.name)) DROP COLUMN \(SQLName.quoted(column.name));"
        }
        let added = pair.addedColumns.map { column in
            "ALTER TABLE \(SQLName.quoted(pair.new.name)) ADD COLUMN \(current.line(column, of: pair.new.name));"
        }
        return pair.columns.flatMap {
            ColumnChange(
                table: pair.new.name, pair: $0, hasOtherTarget: hasOtherTarget($0, pair), role: role(of: $0.new, pair)
            ).statements()
        }
            + removed + added
    }

    private func role(of column: ColumnModel, _ pair: TablePair) -> ColumnChange.Role {
        // If the elements of a set can be NULL, the table of the set has no primary key.
        guard pair.new.primaryKey.contains(column.name) || pair.new.singleNull == column.name else { return .other }
        return pair.new.origin.property == nil ? .objectKey : .elementKey
    }

    /// Whether the column refers to another table after the migration.
    private func hasOtherTarget(_ column: ColumnPair, _ pair: TablePair) -> Bool {
        guard let old = pair.old.foreignKeys.first(where: { $0.column == column.old.name }),
            let new = pair.new.foreignKeys.first(where: { $0.column == column.new.name })
        else { return false }
        return pairs.tableNames[old.table] != new.table
    }

    // MARK: Additions

    private func additions() -> [String] {
        let created = pairs.created
        return created.map(current.create) + pairs.kept.flatMap(constraintAdditions) + created.flatMap(current.indexes)
            + pairs.new.flatMap(references)
    }

    private func constraintAdditions(_ pair: TablePair) -> [String] {
        let table = SQLName.quoted(pair.new.name)
        let uniques = Set(pair.old.unique.compactMap(pair.current))
        let indexes = Set(pair.old.indexes.compactMap { pair.columnNames[$0] })
        let checks = pair.columns.filter { $0.new.check != nil && ($0.oldCheck != $0.new.check || $0.isConverted) }
        return checks.compactMap { column in
            current.check(column.new, of: pair.new.name).map { "ALTER TABLE \(table) ADD \($0);" }
        }
            + pair.new.unique.filter { !uniques.contains($0) }.map {
                "ALTER TABLE \(table) ADD \(current.unique($0, of: pair.new.name));"
            }
            + pair.new.indexes.filter { !indexes.contains($0) }.map { current.index($0, of: pair.new.name) }
    }

    private func references(_ table: TableModel) -> [String] {
        guard let pair = pairs.kept.first(where: { $0.new.name == table.name }) else {
            return current.foreignKeys(table)
        }
        let kept = Set(pair.old.foreignKeys.compactMap { pairs.current($0, in: pair) })
        return table.foreignKeys.filter { !kept.contains($0) }.map { current.foreignKey($0, of: table.name) }
    }

    private func comments() -> [String] {
        pairs.created.flatMap(current.comments)
            + pairs.kept.flatMap { pair in
                let name = pair.new.name
                let ofTable =
                    pair.old.documentation == pair.new.documentation
                    ? [] : [current.comment("TABLE \(SQLName.quoted(name))", pair.new.documentation)]
                let changed = pair.columns.filter { $0.old.documentation != $0.new.documentation }.map {
                    current.comment(of: $0.new.name, in: name, $0.new.documentation)
                }
                let added = pair.addedColumns.filter { $0.documentation != nil }.map {
                    current.comment(of: $0.name, in: name, $0.documentation)
                }
                return ofTable + changed + added
            }
    }
}
