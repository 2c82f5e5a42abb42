import MartletSQLite

/// Makes a read-only file usable by a program whose types differ from the types of the file. It creates temporary views
/// and empty temporary tables on a connection. SQLite stores them outside the file.
///
/// A type that the file lacks has no objects. A property that the file lacks has its default value in every object.
/// Renamed types and properties have their new names. The overlay adds no indexes to existing types.
struct SchemaOverlay: Sendable {
    private let statements: [String]
    /// The types of the file that differ from the declared types, each with the declared type.
    private let changed: [(stored: ObjectTypeSchema, declared: ObjectTypeSchema)]
    private let added: [ObjectTypeSchema]
    /// The features of the declared types that the overlay cannot provide, as texts for messages.
    let unavailable: [String]

    /// Nil if the file has all declared types as they are declared.
    init?(_ diff: SchemaDiff, stored: [ObjectTypeSchema], _ declarations: [TypeDeclaration]) {
        var builder = OverlayBuilder(diff)
        let storedByName = Dictionary(stored.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for declaration in declarations {
            let name = diff.renames.first { $0.value == declaration.type.name }?.key ?? declaration.type.name
            builder.add(declaration, over: storedByName[name])
        }
        (statements, changed, added, unavailable) = (
            builder.statements, builder.changed, builder.added, builder.unavailable
        )
        if changed.isEmpty && added.isEmpty { return nil }
    }

    /// Creates the views and tables on a connection, outside of a transaction. A second call has no effect.
    func apply(to connection: Connection) throws {
        for statement in statements { try connection.execute(statement) }
    }

    /// The types as the program sees them. Types that the file lacks get higher numbers than all types in the file.
    func types(_ types: [(id: TableID, type: ObjectTypeSchema)]) -> [(id: TableID, type: ObjectTypeSchema)] {
        let declared = Dictionary(
            changed.map { ($0.stored.name, $0.declared) }, uniquingKeysWith: { first, _ in first })
        let first = max(types.map(\.id).max() ?? 0, Self.numberBelowAdded) + 1
        return types.map { ($0.id, declared[$0.type.name] ?? $0.type) }
            + added.enumerated().map { (first + $0, $1) }
    }

    /// The numbers of added types are always above this number.
    private static let numberBelowAdded = 1 << 20

    /// True while the file has the same differences as when this overlay was created.
    func matches(_ types: [(id: TableID, type: ObjectTypeSchema)]) -> Bool {
        let stored = Dictionary(types.map { ($0.type.name, $0.type) }, uniquingKeysWith: { first, _ in first })
        return changed.allSatisfy { stored[$0.stored.name] == $0.stored } && added.allSatisfy { stored[$0.name] == nil }
    }
}

private struct OverlayBuilder {
    private(set) var statements: [String] = []
    private(set) var changed: [(stored: ObjectTypeSchema, declared: ObjectTypeSchema)] = []
    private(set) var added: [ObjectTypeSchema] = []
    private(set) var unavailable: [String] = []
    /// The names that renamed properties have in the file, by type and current name.
    private var former: [String: [String: String]] = [:]
    private var movedSpecials: [String: [PropertyIndex: PropertyIndex]] = [:]

    init(_ diff: SchemaDiff) {
        for step in diff.steps {
            switch step {
            case .renameProperty(let type, let from, let to): former[type, default: [:]][to] = from
            case .moveSpecials(let type, let positions): movedSpecials[type] = positions
            default: break
            }
        }
    }

    mutating func add(_ declaration: TypeDeclaration, over stored: ObjectTypeSchema?) {
        let type = declaration.type
        guard let stored else {
            added.append(type)
            statements.append(temporary(TableLayout.tableDefinition(type)))
            for property in type.properties where property.isCollection { addEmpty(property, type) }
            for index in TableLayout(type).fullTextIndexes {
                statements.append(
                    TableLayout.definition(of: index)
                        .replacing("CREATE VIRTUAL TABLE ", with: "CREATE VIRTUAL TABLE IF NOT EXISTS temp."))
            }
            return
        }
        guard stored != type else { return }
        changed.append((stored, type))
        addView(declaration, stored)
        for property in type.properties {
            guard let source = stored[sourceName(property, type)], source.isColumn || source.isCollection else {
                if property.isCollection { addEmpty(property, type) }
                if property.isFullText { unavailable.append("the full-text index of '\(type.name).\(property.name)'") }
                continue
            }
            let isRenamed = source.name != property.name || stored.name != type.name
            if property.isFullText && (isRenamed || !source.isFullText) {
                unavailable.append("the full-text index of '\(type.name).\(property.name)'")
            }
            if property.isCollection && isRenamed { addView(property, type, source, stored) }
        }
    }

    private func sourceName(_ property: PropertySchema, _ type: ObjectTypeSchema) -> String {
        former[type.name]?[property.name] ?? property.name
    }

    private mutating func addView(_ declaration: TypeDeclaration, _ stored: ObjectTypeSchema) {
        let type = declaration.type
        let (layout, before) = (TableLayout(type), TableLayout(stored))
        var columns = layout.keyIsProperty ? [] : ["\"_key\""]
        for (position, column) in layout.columns.enumerated() {
            let property = type.properties[column.property]
            if let source = stored[sourceName(property, type)], source.isColumn {
                columns.append("\(SQLText.identifier(source.name)) AS \(column.name)")
            } else {
                columns.append("\(SQLText.literal(declaration.defaultValue(of: property, position))) AS \(column.name)")
            }
        }
        if layout.hasSpecials {
            columns.append("\(specials(type.name, before.hasSpecials)) AS \(TableLayout.specialColumn)")
        }
        statements.append(
            "CREATE TEMP VIEW IF NOT EXISTS \(layout.table) AS SELECT \(columns.joined(separator: ", ")) "
                + "FROM main.\(before.table)")
    }

    // Returns SQL for the column of special values. The file stores each special value under the position of its
    // property, so the view translates the positions that differ in the declared type.
    private func specials(_ type: String, _ areStored: Bool) -> String {
        guard areStored else { return "NULL" }
        guard let positions = movedSpecials[type] else { return TableLayout.specialColumn }
        let pairs = positions.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
        return "martlet_moved(\(TableLayout.specialColumn), '\(pairs)')"
    }

    private mutating func addEmpty(_ property: PropertySchema, _ type: ObjectTypeSchema) {
        statements += TableLayout.collectionDefinition(property, in: type).map(temporary)
    }

    private mutating func addView(
        _ property: PropertySchema, _ type: ObjectTypeSchema, _ source: PropertySchema, _ stored: ObjectTypeSchema
    ) {
        for suffix in property.isLink ? ["", ".targets"] : [""] {
            let name = SQLText.identifier("\(type.name).\(property.name)\(suffix)")
            let former = SQLText.identifier("\(stored.name).\(source.name)\(suffix)")
            statements.append("CREATE TEMP VIEW IF NOT EXISTS \(name) AS SELECT * FROM main.\(former)")
        }
    }

    private func temporary(_ definition: String) -> String {
        definition.replacing("CREATE TABLE ", with: "CREATE TEMP TABLE IF NOT EXISTS ", maxReplacements: 1)
    }
}
