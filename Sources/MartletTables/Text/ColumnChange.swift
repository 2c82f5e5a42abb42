import MartletSchema

/// Writes the statements that change one column: its type, its values, its default, and whether it can be NULL.
struct ColumnChange {
    let table: String
    let pair: ColumnPair
    /// Whether the column refers to another table after the migration.
    let hasOtherTarget: Bool

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

    /// Whether the migration deletes a row whose value the new column does not accept. This happens in the tables of
    /// collections, and for a primary key without a default, because these columns have no SQL default.
    private var isRemoved: Bool { pair.new.isRequired && pair.new.defaultText == nil }

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
        return refused.map { condition in
            isRemoved
                ? "DELETE FROM \(name) WHERE \(condition);"
                : "UPDATE \(name) SET \(column) = \(replacement) WHERE \(condition);"
        }
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
