import MartletSQLite
import MartletValues

/// The full-text indexes of a file: one FTS5 table for each property with `fullText`. If a type changes, `SchemaChange`
/// creates its indexes again.
///
/// Each table stores a copy of the text. An FTS5 table with external content would need triggers, which `Connection`
/// disables.
struct FullTextIndexes {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Drops the indexes of the types with the given names. Each name is the current name of the type in the file.
    func drop(of types: some Sequence<String>) throws {
        for type in types {
            let statement = try connection.statement(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%' "
                    + "AND substr(name, 1, length(?1)) = ?1")
            statement.bind(type + ".", at: 1)
            var names: [String] = []
            while try statement.step() { names.append(statement.text(0)) }
            for name in names { try connection.execute("DROP TABLE \(SQLText.identifier(name))") }
        }
    }

    /// Creates all full-text indexes of a type and fills them from its rows. The indexes must not exist yet.
    func create(for type: ObjectTypeSchema) throws {
        let layout = TableLayout(type)
        for index in layout.fullTextIndexes {
            try connection.execute(TableLayout.definition(of: index))
            guard let column = layout.column(of: index.property) else { continue }
            try connection.execute(
                "INSERT INTO \(index.table)(rowid, text) SELECT \(layout.rowIDColumn), \(column.name) "
                    + "FROM \(layout.table) WHERE \(column.name) IS NOT NULL")
        }
    }
}

extension [SchemaDiff.Step] {
    /// The types whose schema facts change. Each type is given by its name in the file.
    var changedTypes: [String] {
        var former: [String: String] = [:]
        for case .renameType(let old, let new) in self { former[new] = old }
        return compactMap { if case .replaceSchemaFacts(let name) = $0 { former[name] ?? name } else { nil } }
    }
}
