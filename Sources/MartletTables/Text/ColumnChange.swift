import MartletSchema

/// Writes the statements that change one column: its type, its values, its default, and whether it can be NULL.
struct ColumnChange {
    let table: String
    let pair: ColumnPair
    /// Whether the column refers to another table after the migration.
    let hasOtherTarget: Bool
    let role: Role

    /// The role of the column in its table.
    enum Role {
        /// The primary key of the objects of a type.
        case objectKey
        /// A part of the key of the elements of a collection.
        case elementKey
        case other
    }

    private var column: String { SQLName.quoted(pair.new.name) }

    func statements() -> [String] {
        type() + values() + defaultValue() + nullability()
    }

    private func alter(_ change: String) -> String {
        "ALTER TABLE \(SQLName.quoted(table)) ALTER COLUMN \(column) \(change);"
    }

    // The old default is dropped first, because otherwise PostgreSQL would have to convert the default too.
    private func type() -> [String] {
        guard pair.isConverted else { return [] }
        let drop = pair.old.defaultText == nil ? [] : [alter("DROP DEFAULT")]
        let relax = pair.old.isRequired && !pair.new.isRequired ? [alter("DROP NOT NULL")] : []
        let removal = conversion == nil && isRemoved ? ["DELETE FROM \(SQLName.quoted(table));"] : []
        return removal + drop + relax + [alter("TYPE \(pair.new.type) USING \(conversion ?? replacement)")]
    }

    /// Whether the migration deletes a row whose value the new column does not accept. A required column without a
    /// default, such as the elements of a list, has no other value. The values of primary keys and the elements of sets
    /// must differ, so they cannot be replaced by a default or by NULL.
    private var isRemoved: Bool { role != .other || pair.new.isRequired && pair.new.defaultText == nil }

    private static let numbers: Set = ["smallint", "integer", "bigint", "real", "double precision", "numeric"]

    /// The SQL expression that converts a value; nil if the values cannot be kept. Numbers can become other numbers.
    /// Numbers, booleans and UUIDs can become text.
    private var conversion: String? {
        let (old, new) = (pair.old.type, pair.new.type)
        if hasOtherTarget { return nil }
        if Self.numbers.contains(old), Self.numbers.contains(new) { return "\(column)::\(new)" }
        let hasText = Self.numbers.contains(old) || ["uuid", "boolean"].contains(old)
        return new.hasPrefix("text") && hasText ? "\(column)::text" : nil
    }

    /// The SQL expression for a value that cannot be kept.
    private var replacement: String { pair.new.isRequired ? pair.new.defaultText ?? "NULL" : "NULL" }

    /// The statements that change the values that the new column does not accept, or delete the rows with these values.
    private func values() -> [String] {
        var refused: [String] = []
        if hasOtherTarget, !pair.isConverted { refused.append("\(column) IS NOT NULL") }
        if let check = pair.new.check, pair.acceptsFewer || pair.isConverted { refused.append("NOT (\(check))") }
        if pair.new.isRequired, !pair.old.isRequired { refused.append("\(column) IS NULL") }
        let name = SQLName.quoted(table)
        guard isRemoved else {
            return refused.map { "UPDATE \(name) SET \(column) = \(replacement) WHERE \($0);" }
        }
        // References are checked at the end of the transaction. Until then, PostgreSQL refuses to alter the table, so
        // the references to the deleted rows are checked at once.
        let check = role == .objectKey && !refused.isEmpty ? ["SET CONSTRAINTS ALL IMMEDIATE;"] : []
        return refused.map { "DELETE FROM \(name) WHERE \($0);" } + check
    }

    private func defaultValue() -> [String] {
        let before = pair.isConverted ? nil : pair.old.defaultText
        guard before != pair.new.defaultText else { return [] }
        return [alter(pair.new.defaultText.map { "SET DEFAULT \($0)" } ?? "DROP DEFAULT")]
    }

    private func nullability() -> [String] {
        if pair.new.isRequired, !pair.old.isRequired { return [alter("SET NOT NULL")] }
        if !pair.new.isRequired, pair.old.isRequired, !pair.isConverted { return [alter("DROP NOT NULL")] }
        return []
    }
}
