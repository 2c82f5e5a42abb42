import MartletSQLite
import MartletValues

/// Applies the steps of a schema difference inside the caller's transaction.
struct SchemaChange {
    private let connection: Connection
    private let declarations: [String: TypeDeclaration]

    init(_ connection: Connection, _ types: [TypeDeclaration]) {
        self.connection = connection
        declarations = Dictionary(types.map { ($0.type.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Applies all steps except `.rebuildType`, which `TypeMigration` applies. Also drops the full-text indexes of
    /// changed types. The caller creates them again with `createFullTextIndexes`.
    ///
    /// Returns a sentence for each conflict of the stored rows with the new schema. If there are conflicts, the caller
    /// rolls the transaction back.
    func apply(_ steps: [SchemaDiff.Step]) throws -> [String] {
        try FullTextIndexes(connection).drop(of: steps.changedTypes)
        // Types are renamed first, because all other steps use the new names.
        for case .renameType(let old, let new) in steps {
            let isRebuilt = steps.contains { if case .rebuildType(new, _) = $0 { true } else { false } }
            try renameType(old, new, keepingIndexes: !isRebuilt)
        }
        var conflicts: [String] = []
        for step in steps {
            switch step {
            case .renameType: break
            case .createType(let name): try createType(declaration(name).type)
            case .moveSpecials(let type, let positions):
                try moveSpecials(positions, TableLayout(declaration(type).type))
            case .addProperty(let type, let property): try addProperty(property, declaration(type))
            case .renameProperty(let type, let from, let to): try renameProperty(from, to, declaration(type).type)
            case .rebuildIndex(let type, let property): try rebuildIndex(property, declaration(type).type)
            case .rebuildUniques(let type): conflicts += try rebuildUniques(declaration(type).type)
            case .replaceSchemaFacts(let name): try replaceSchemaFacts(declaration(name).type)
            case .rebuildType: break
            }
        }
        try linkToTopLevelTypes(steps)
        return conflicts
    }

    // A type that was embedded may become a top-level type. The file may contain an undeclared type: a type that the
    // program does not declare. If properties of the undeclared type contained objects of the embedded type, this
    // method turns these properties into links. Otherwise, deleting an object of the undeclared type would also delete
    // the top-level objects.
    private func linkToTopLevelTypes(_ steps: [SchemaDiff.Step]) throws {
        let changed = steps.compactMap { if case .replaceSchemaFacts(let name) = $0 { name } else { nil } }
        let topLevel = Set(changed.filter { !declaration($0).type.isEmbedded })
        if topLevel.isEmpty { return }
        for (id, stored) in try Catalog.types(connection, checkingNames: false) where declarations[stored.name] == nil {
            var type = stored
            for (position, property) in type.properties.enumerated() {
                guard case .embedded(let target) = property.element, topLevel.contains(target) else { continue }
                type.properties[position].element = .link(target)
            }
            if type != stored { try replaceSchemaFacts(type, id) }
        }
    }

    /// Creates the full-text indexes of changed types, and fills the indexes from the rows of these types.
    func createFullTextIndexes(_ steps: [SchemaDiff.Step]) throws {
        for step in steps {
            switch step {
            case .createType(let name), .replaceSchemaFacts(let name):
                try FullTextIndexes(connection).create(for: declaration(name).type)
            default: break
            }
        }
    }

    private func declaration(_ name: String) -> TypeDeclaration {
        guard let declaration = declarations[name] else { preconditionFailure("no declaration of type '\(name)'") }
        return declaration
    }

    // MARK: Types

    private func createType(_ type: ObjectTypeSchema) throws {
        for statement in TableLayout.definition(type) { try connection.execute(statement) }
        try connection.run(
            "INSERT INTO martlet_types (name, facts) VALUES (?1, ?2)",
            [.text(type.name), .text(SchemaFactsWriter.facts(type))])
    }

    private func replaceSchemaFacts(_ type: ObjectTypeSchema) throws {
        try connection.run(
            "UPDATE martlet_types SET facts = ?2 WHERE name = ?1",
            [.text(type.name), .text(SchemaFactsWriter.facts(type))])
    }

    private func replaceSchemaFacts(_ type: ObjectTypeSchema, _ id: TableID) throws {
        try connection.run(
            "UPDATE martlet_types SET facts = ?2 WHERE id = ?1",
            [.integer(Int64(id)), .text(SchemaFactsWriter.facts(type))])
    }

    private func renameType(_ old: String, _ new: String, keepingIndexes: Bool) throws {
        try connection.renameTable(old, new)
        for suffix in try connection.tableSuffixes(old + ".") {
            try connection.renameTable("\(old).\(suffix)", "\(new).\(suffix)")
        }
        try connection.run("UPDATE martlet_types SET name = ?2 WHERE name = ?1", [.text(old), .text(new)])
        // Types that the program does not declare can also link to the renamed type.
        for (id, stored) in try Catalog.types(connection, checkingNames: false) {
            let type = stored.retargeted { $0 == old ? new : $0 }
            if type != stored { try replaceSchemaFacts(type, id) }
        }
        // The name of an index begins with the name of its type, so the old indexes are dropped. They are created again
        // below, unless `TableRebuild` creates them.
        for name in try connection.indexNames(prefix: old + ".") {
            try connection.execute("DROP INDEX \(quoted(name))")
        }
        guard keepingIndexes else { return }
        let type = declaration(new).type
        for property in type.properties where try connection.hasColumn(new, property.name) {
            for statement in TableLayout.indexes(of: property, in: type) { try connection.execute(statement) }
        }
    }

    // MARK: Properties

    private func addProperty(_ name: String, _ declaration: TypeDeclaration) throws {
        let type = declaration.type
        guard let property = type[name] else { return }
        if property.isCollection {
            for statement in TableLayout.collectionDefinition(property, in: type) { try connection.execute(statement) }
            return
        }
        let layout = TableLayout(type)
        if layout.hasSpecials, try !connection.hasColumn(type.name, "_special") {
            try connection.execute("ALTER TABLE \(layout.table) ADD COLUMN \(TableLayout.specialColumn) BLOB")
        }
        guard let position = layout.columns.firstIndex(where: { $0.property == property.index }) else { return }
        try addColumn(layout.columns[position], property, layout) { declaration.defaultValue(of: property, position) }
        for statement in TableLayout.indexes(of: property, in: type) { try connection.execute(statement) }
    }

    private func addColumn(
        _ column: TableLayout.Column, _ property: PropertySchema, _ layout: TableLayout, _ value: () -> SQLValue
    ) throws {
        let first = value()
        let differsPerRow = !isSame(first, value())
        // Some floating-point numbers change if they are written as an SQL literal and read again.
        let isLiteral =
            try !differsPerRow && !needsBits(first)
            && isSame(connection.value("SELECT \(SQLText.literal(first))") ?? .null, first)
        let clause = isLiteral && first != .null ? " DEFAULT (\(SQLText.literal(first)))" : ""
        try connection.execute("ALTER TABLE \(layout.table) ADD COLUMN \(column.name) \(column.sqlType)\(clause)")
        if differsPerRow {
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

    // Fills a column whose default differs from row to row. For example, the default `new` in the schema creates a UUID
    // for each object.
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
            for suffix in try connection.tableSuffixes("\(type.name).\(old)")
            where suffix.isEmpty || suffix == ".targets" {
                try connection.renameTable("\(type.name).\(old)\(suffix)", "\(type.name).\(new)\(suffix)")
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

    func rebuildUniques(_ type: ObjectTypeSchema) throws -> [String] {
        for name in try connection.indexNames(prefix: "\(type.name).unique.") {
            try connection.execute("DROP INDEX \(quoted(name))")
        }
        var conflicts: [String] = []
        for (unique, statement) in zip(type.uniques, TableLayout.uniqueIndexes(type)) {
            try connection.execute(statement)
            conflicts += try Duplicates(connection, type, unique).conflicts()
        }
        return conflicts
    }

    private func quoted(_ name: String) -> String { SQLText.identifier(name) }
}

extension TypeDeclaration {
    /// The value that an existing row gets for a new property. `position` is the position of the property's column.
    func defaultValue(of property: PropertySchema, _ position: Int) -> SQLValue {
        property.initialValue(defaultRow()[position])
    }
}

extension PropertySchema {
    /// True if the column of the property can store null.
    var canStoreNull: Bool { isOptional || isLink || element == .scalar(.any) }

    /// Converts the value of a new object to a column value.
    func initialValue(_ value: SQLValue) -> SQLValue {
        if value == .null && !canStoreNull { return TableLayout.zero(of: element) }
        return element.isFloating ? FloatingSpecials.decodedElement(value) : value
    }
}
