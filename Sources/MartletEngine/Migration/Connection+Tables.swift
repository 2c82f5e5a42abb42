import MartletSQLite
import MartletValues

/// Queries the names of tables and indexes, and renames tables.
extension Connection {
    /// For each table whose name begins with `prefix`, the part of the name after the prefix.
    func tableSuffixes(_ prefix: String) throws -> [String] {
        try names(
            "SELECT substr(name, length(?1) + 1) FROM sqlite_schema WHERE type = 'table' "
                + "AND substr(name, 1, length(?1)) = ?1 ORDER BY name", prefix)
    }

    func indexNames(prefix: String) throws -> [String] {
        try names(
            "SELECT name FROM sqlite_schema WHERE type = 'index' "
                + "AND substr(name, 1, length(?1)) = ?1 AND sql IS NOT NULL", prefix)
    }

    private func names(_ sql: String, _ argument: String) throws -> [String] {
        let statement = try statement(sql)
        statement.bind(argument, at: 1)
        var names: [String] = []
        while try statement.step() { names.append(statement.text(0)) }
        return names
    }

    func hasColumn(_ type: String, _ property: String) throws -> Bool {
        try integer("SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2", [.text(type), .text(property)]) == 1
    }

    // SQLite ignores the case of letters in names. Therefore a renaming that changes only the case uses an intermediate
    // name.
    func renameTable(_ old: String, _ new: String) throws {
        guard old != new else { return }
        var current = old
        if old.lowercased() == new.lowercased() {
            current = "martlet.renamed.\(new)"
            try execute("ALTER TABLE \(SQLText.identifier(old)) RENAME TO \(SQLText.identifier(current))")
        }
        try execute("ALTER TABLE \(SQLText.identifier(current)) RENAME TO \(SQLText.identifier(new))")
    }
}
