import MartletSQLite

/// Carries out the steps of a schema difference inside the caller's transaction.
struct SchemaChange {
    private let connection: Connection
    private let declarations: [String: StoreOptions.TypeDeclaration]

    init(_ connection: Connection, _ types: [StoreOptions.TypeDeclaration]) {
        self.connection = connection
        declarations = Dictionary(types.map { ($0.type.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns what the rows of the file do not allow, one sentence each: then the caller rolls back.
    func apply(_ diff: SchemaDiff) throws -> [String] {
        let words = WordTables(connection)
        try words.drop(of: diff.changedTypes)
        // Types are renamed before anything else speaks of them by their new names.
        for case .renameType(let old, let new) in diff.steps { try renameType(old, new) }
        var conflicts: [String] = []
        for step in diff.steps {
            switch step {
            case .renameType: break
            case .createType(let name): try createType(declaration(name).type)
            case .moveSpecials(let type, let positions):
                try moveSpecials(positions, TableLayout(declaration(type).type))
            case .addProperty(let type, let property): try addProperty(property, declaration(type))
            case .renameProperty(let type, let from, let to): try renameProperty(from, to, declaration(type).type)
            case .rebuildIndex(let type, let property): try rebuildIndex(property, declaration(type).type)
            case .rebuildUniques(let type): conflicts += try rebuildUniques(declaration(type).type)
            case .replaceFacts(let name): try replaceFacts(declaration(name).type)
            }
        }
        for step in diff.steps {
            switch step {
            case .createType(let name), .replaceFacts(let name): try words.create(for: declaration(name).type)
            default: break
            }
        }
        return conflicts
    }

    private func declaration(_ name: String) -> StoreOptions.TypeDeclaration {
        guard let declaration = declarations[name] else { preconditionFailure("no declaration of type '\(name)'") }
        return declaration
    }

    // MARK: Types

    private func createType(_ type: ObjectTypeSchema) throws {
        for statement in TableLayout.definition(type) { try connection.execute(statement) }
        try connection.run(
            "INSERT INTO martlet_types (name, facts) VALUES (?1, ?2)",
            [.text(type.name), .text(SchemaText.facts(type))])
    }

    private func replaceFacts(_ type: ObjectTypeSchema) throws {
        try connection.run(
            "UPDATE martlet_types SET facts = ?2 WHERE name = ?1", [.text(type.name), .text(SchemaText.facts(type))])
    }

    private func renameType(_ old: String, _ new: String) throws {
        try renameTable(old, new)
        for suffix in try tableNames(prefix: old + ".") { try renameTable("\(old).\(suffix)", "\(new).\(suffix)") }
        try connection.run("UPDATE martlet_types SET name = ?2 WHERE name = ?1", [.text(old), .text(new)])
        // Types that the program does not declare may lead here too.
        for (id, stored) in try Catalog.types(connection, checkingNames: false) {
            let type = stored.retargeted { $0 == old ? new : $0 }
            guard type != stored else { continue }
            try connection.run(
                "UPDATE martlet_types SET facts = ?2 WHERE id = ?1",
                [.integer(Int64(id)), .text(SchemaText.facts(type))])
        }
        // Indexes carry the type's name; a renamed type gets its own.
        for name in try indexNames(prefix: old + ".") { try connection.execute("DROP INDEX \(quoted(name))") }
        let type = declaration(new).type
        for property in type.properties where try hasColumn(new, property.name) {
            for statement in TableLayout.indexes(of: property, in: type) { try connection.execute(statement) }
        }
    }

    // SQLite does not tell names apart by case, so a new spelling needs a name in between.
    private func renameTable(_ old: String, _ new: String) throws {
        guard old != new else { return }
        var current = old
        if old.lowercased() == new.lowercased() {
            current = "martlet.renamed.\(new)"
            try connection.execute("ALTER TABLE \(quoted(old)) RENAME TO \(quoted(current))")
        }
        try connection.execute("ALTER TABLE \(quoted(current)) RENAME TO \(quoted(new))")
    }

    /// What follows `prefix` in the names of tables.
    private func tableNames(prefix: String) throws -> [String] {
        try names(
            "SELECT substr(name, length(?1) + 1) FROM sqlite_schema WHERE type = 'table' "
                + "AND substr(name, 1, length(?1)) = ?1 ORDER BY name", prefix)
    }

    private func indexNames(prefix: String) throws -> [String] {
        try names(
            "SELECT name FROM sqlite_schema WHERE type = 'index' "
                + "AND substr(name, 1, length(?1)) = ?1 AND sql IS NOT NULL", prefix)
    }

    private func names(_ sql: String, _ argument: String) throws -> [String] {
        let statement = try connection.statement(sql)
        statement.bind(argument, at: 1)
        var names: [String] = []
        while try statement.step() { names.append(statement.text(0)) }
        return names
    }

    private func hasColumn(_ type: String, _ property: String) throws -> Bool {
        try connection.integer(
            "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2", [.text(type), .text(property)]) == 1
    }

    // MARK: Properties

    private func addProperty(_ name: String, _ declaration: StoreOptions.TypeDeclaration) throws {
        let type = declaration.type
        guard let property = type[name] else { return }
        if property.isCollection {
            for statement in TableLayout.collectionDefinition(property, in: type) { try connection.execute(statement) }
            return
        }
        let layout = TableLayout(type)
        if layout.hasSpecials, try !hasColumn(type.name, "_special") {
            try connection.execute("ALTER TABLE \(layout.table) ADD COLUMN \(TableLayout.specialColumn) BLOB")
        }
        guard let position = layout.columns.firstIndex(where: { $0.property == property.index }) else { return }
        try addColumn(layout.columns[position], property, layout) {
            let value = declaration.defaultRow()[position]
            return value == .null && !property.isOptional ? TableLayout.zero(of: property.element) : value
        }
        for statement in TableLayout.indexes(of: property, in: type) { try connection.execute(statement) }
    }

    private func addColumn(
        _ column: TableLayout.Column, _ property: PropertySchema, _ layout: TableLayout, _ value: () -> SQLValue
    ) throws {
        let first = value()
        let isOnePerRow = !isSame(first, value())
        // Not every number survives being written as text.
        let isLiteral =
            try !isOnePerRow && !needsBits(first)
            && isSame(connection.value("SELECT \(SQLText.literal(first))") ?? .null, first)
        let clause = isLiteral && first != .null ? " DEFAULT (\(SQLText.literal(first)))" : ""
        try connection.execute("ALTER TABLE \(layout.table) ADD COLUMN \(column.name) \(column.sqlType)\(clause)")
        if isOnePerRow {
            try fillEach(column, layout, property, value)
        } else if !isLiteral {
            try fill(column, layout, property, first, "")
        }
    }

    private func isSame(_ left: SQLValue, _ right: SQLValue) -> Bool {
        if case .real(let left) = left, case .real(let right) = right { return left.bitPattern == right.bitPattern }
        return left == right
    }

    private func needsBits(_ value: SQLValue) -> Bool {
        if case .real(let number) = value { return FloatingSpecials.needsBits(number) }
        return false
    }

    // Defaults such as 'new' give every old row its own value.
    private func fillEach(
        _ column: TableLayout.Column, _ layout: TableLayout, _ property: PropertySchema, _ value: () -> SQLValue
    ) throws {
        let select = try connection.statement("SELECT \(layout.rowIDColumn) FROM \(layout.table)")
        var keys: [ObjectKey] = []
        while try select.step() { keys.append(select.integer(0)) }
        for key in keys { try fill(column, layout, property, value(), " WHERE \(layout.rowIDColumn) = \(key)") }
    }

    private func fill(
        _ column: TableLayout.Column, _ layout: TableLayout, _ property: PropertySchema, _ value: SQLValue,
        _ condition: String
    ) throws {
        try connection.run("UPDATE \(layout.table) SET \(column.name) = ?1\(condition)", [value])
        guard property.element.isFloating, case .real(let number) = value, FloatingSpecials.needsBits(number) else {
            return
        }
        var bytes: [UInt8] = []
        FloatingSpecials.append(number, of: property.index, to: &bytes)
        let special = TableLayout.specialColumn
        try connection.run(
            "UPDATE \(layout.table) SET \(special) = CAST(coalesce(\(special), x'') || ?1 AS BLOB)\(condition)",
            [.blob(bytes)])
    }

    private func moveSpecials(_ positions: [PropertyIndex: PropertyIndex], _ layout: TableLayout) throws {
        let special = TableLayout.specialColumn
        let select = try connection.statement(
            "SELECT \(layout.rowIDColumn), \(special) FROM \(layout.table) WHERE \(special) IS NOT NULL")
        var rows: [(key: ObjectKey, bytes: [UInt8])] = []
        while try select.step() { rows.append((select.integer(0), select.blob(1))) }
        for row in rows {
            try connection.run(
                "UPDATE \(layout.table) SET \(special) = ?1 WHERE \(layout.rowIDColumn) = ?2",
                [.blob(FloatingSpecials.moved(row.bytes, positions)), .integer(row.key)])
        }
    }

    private func renameProperty(_ old: String, _ new: String, _ type: ObjectTypeSchema) throws {
        guard let property = type[new] else { return }
        if property.isCollection {
            for suffix in try tableNames(prefix: "\(type.name).\(old)") where suffix.isEmpty || suffix == ".targets" {
                try renameTable("\(type.name).\(old)\(suffix)", "\(type.name).\(new)\(suffix)")
            }
            return
        }
        try connection.execute(
            "ALTER TABLE \(quoted(type.name)) RENAME COLUMN \(quoted(old)) TO \(quoted(new))")
        try dropIndex(type.name, old)
        try rebuildIndex(new, type)
    }

    // MARK: Indexes

    private func rebuildIndex(_ name: String, _ type: ObjectTypeSchema) throws {
        guard let property = type[name] else { return }
        try dropIndex(type.name, name)
        for statement in TableLayout.indexes(of: property, in: type) { try connection.execute(statement) }
    }

    private func dropIndex(_ type: String, _ property: String) throws {
        try connection.execute("DROP INDEX IF EXISTS \(quoted("\(type).\(property).index"))")
    }

    private func rebuildUniques(_ type: ObjectTypeSchema) throws -> [String] {
        for name in try indexNames(prefix: "\(type.name).unique.") {
            try connection.execute("DROP INDEX \(quoted(name))")
        }
        var conflicts: [String] = []
        for (unique, statement) in zip(type.uniques, TableLayout.uniqueIndexes(type)) {
            if try isRefused(statement) {
                let names = unique.map { "'\(type.name).\(type.properties[$0].name)'" }.joined(separator: " and ")
                conflicts.append(
                    "\(names) must be unique in the schema, but objects in the file share values: "
                        + "change them with the old program first")
            }
        }
        return conflicts
    }

    private func isRefused(_ statement: String) throws -> Bool {
        do {
            try connection.execute(statement)
            return false
        } catch {
            guard error.primary == .constraint else { throw error }
            return true
        }
    }

    private func quoted(_ name: String) -> String { SQLText.identifier(name) }
}
