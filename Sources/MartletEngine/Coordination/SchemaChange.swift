import MartletSQLite

/// Carries out the steps of a schema difference inside the caller's transaction.
struct SchemaChange {
    private let connection: Connection
    private let declarations: [String: StoreOptions.TypeDeclaration]

    init(_ connection: Connection, _ types: [StoreOptions.TypeDeclaration]) {
        self.connection = connection
        declarations = Dictionary(types.map { ($0.type.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func apply(_ diff: SchemaDiff) throws {
        // Types are renamed before anything else speaks of them by their new names.
        for case .renameType(let old, let new) in diff.steps { try renameType(old, new) }
        for step in diff.steps {
            switch step {
            case .renameType: break
            case .createType(let name): try createType(declaration(name).type)
            case .addProperty(let type, let property): try addProperty(property, declaration(type))
            case .renameProperty(let type, let from, let to): try renameProperty(from, to, declaration(type).type)
            case .addIndex(let type, let property): try addIndexes(property, declaration(type).type)
            case .removeIndex(let type, let property): try dropIndex(type, property)
            case .addUnique(let type, let number): try addUnique(number, declaration(type).type)
            case .replaceFacts(let name): try replaceFacts(declaration(name).type)
            }
        }
    }

    private func declaration(_ name: String) -> StoreOptions.TypeDeclaration {
        guard let declaration = declarations[name] else { preconditionFailure("no declaration of type '\(name)'") }
        return declaration
    }

    private func createType(_ type: ObjectTypeSchema) throws {
        for statement in TableLayout.definition(type) { try connection.execute(statement) }
        try connection.run(
            "INSERT INTO martlet_types (name, facts) VALUES (?1, ?2)", [.text(type.name), .text(SchemaText.facts(type))])
    }

    private func replaceFacts(_ type: ObjectTypeSchema) throws {
        try connection.run(
            "UPDATE martlet_types SET facts = ?2 WHERE name = ?1", [.text(type.name), .text(SchemaText.facts(type))])
    }

    private func renameType(_ old: String, _ new: String) throws {
        try connection.execute("ALTER TABLE \(quoted(old)) RENAME TO \(quoted(new))")
        let type = declaration(new).type
        for property in type.properties where property.isCollection {
            for suffix in ["", ".targets"] {
                try renameTable("\(old).\(property.name)\(suffix)", "\(new).\(property.name)\(suffix)")
                if let former = property.renamedFrom {
                    try renameTable("\(old).\(former)\(suffix)", "\(new).\(former)\(suffix)")
                }
            }
        }
        try connection.run("UPDATE martlet_types SET name = ?2 WHERE name = ?1", [.text(old), .text(new)])
        try rebuildIndexes(old, type)
    }

    private func renameTable(_ old: String, _ new: String) throws {
        let exists = try connection.integer(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1", [.text(old)])
        if exists == 1 { try connection.execute("ALTER TABLE \(quoted(old)) RENAME TO \(quoted(new))") }
    }

    // Indexes carry the type's name; a renamed type gets its own.
    private func rebuildIndexes(_ old: String, _ type: ObjectTypeSchema) throws {
        let names = try indexNames(prefix: old + ".")
        for name in names { try connection.execute("DROP INDEX \(quoted(name))") }
        for property in type.properties where try hasColumn(type.name, property.name) {
            for statement in TableLayout.indexes(of: property, in: type) { try connection.execute(statement) }
        }
        for number in type.uniques.indices { try addUnique(number, type) }
    }

    private func indexNames(prefix: String) throws -> [String] {
        let statement = try connection.statement(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND substr(name, 1, length(?1)) = ?1 AND sql IS NOT NULL")
        statement.bind(prefix, at: 1)
        var names: [String] = []
        while try statement.step() { names.append(statement.text(0)) }
        return names
    }

    private func hasColumn(_ type: String, _ property: String) throws -> Bool {
        try connection.integer(
            "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2", [.text(type), .text(property)]) == 1
    }

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
        guard let column = layout.column(of: property.index),
            let position = layout.columns.firstIndex(where: { $0.property == property.index })
        else { return }
        let (first, second) = (declaration.defaultRow(), declaration.defaultRow())
        let value = first[position]
        let isOnePerRow = value != second[position]
        let initial = value == .null && !property.isOptional ? TableLayout.zero(of: property.element) : value
        let clause = initial == .null || isOnePerRow ? "" : " DEFAULT \(SQLText.literal(initial))"
        try connection.execute("ALTER TABLE \(layout.table) ADD COLUMN \(column.name) \(column.sqlType)\(clause)")
        if isOnePerRow { try fill(column.name, position, layout, declaration) }
        for statement in TableLayout.indexes(of: property, in: type) { try connection.execute(statement) }
    }

    // Defaults such as 'new' give every old row its own value.
    private func fill(
        _ column: String, _ position: Int, _ layout: TableLayout, _ declaration: StoreOptions.TypeDeclaration
    ) throws {
        let select = try connection.statement("SELECT \(layout.keyColumn) FROM \(layout.table)")
        var keys: [ObjectKey] = []
        while try select.step() { keys.append(select.integer(0)) }
        for key in keys {
            try connection.run(
                "UPDATE \(layout.table) SET \(column) = ?1 WHERE \(layout.keyColumn) = ?2",
                [declaration.defaultRow()[position], .integer(key)])
        }
    }

    private func renameProperty(_ old: String, _ new: String, _ type: ObjectTypeSchema) throws {
        guard let property = type[new] else { return }
        if property.isCollection {
            for suffix in ["", ".targets"] {
                try renameTable("\(type.name).\(old)\(suffix)", "\(type.name).\(new)\(suffix)")
            }
            return
        }
        try connection.execute(
            "ALTER TABLE \(quoted(type.name)) RENAME COLUMN \(quoted(old)) TO \(quoted(new))")
        try dropIndex(type.name, old)
        try addIndexes(new, type)
    }

    private func addIndexes(_ name: String, _ type: ObjectTypeSchema) throws {
        guard let property = type[name] else { return }
        try dropIndex(type.name, name)
        for statement in TableLayout.indexes(of: property, in: type) { try connection.execute(statement) }
    }

    private func dropIndex(_ type: String, _ property: String) throws {
        try connection.execute("DROP INDEX IF EXISTS \(quoted("\(type).\(property).index"))")
    }

    private func addUnique(_ number: Int, _ type: ObjectTypeSchema) throws {
        let index = quoted("\(type.name).unique.\(number)")
        let names = type.uniques[number].map { quoted(type.properties[$0].name) }.joined(separator: ", ")
        try connection.execute("DROP INDEX IF EXISTS \(index)")
        try connection.execute("CREATE UNIQUE INDEX \(index) ON \(quoted(type.name)) (\(names))")
    }

    private func quoted(_ name: String) -> String { SQLText.identifier(name) }
}
