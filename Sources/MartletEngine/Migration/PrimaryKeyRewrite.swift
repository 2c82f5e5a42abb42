import MartletSQLite
import MartletValues

/// Replaces the keys of the rows of a type by the integer primary key of the type. Copies the rows to a new table under
/// their new keys, and updates all links to the rows.
struct PrimaryKeyRewrite {
    private let connection: Connection
    private let type: ObjectTypeSchema
    private let schema: DatabaseSchema
    /// The temporary name of the old table. It contains the rows under their old keys while the new table is filled.
    private let formerName: String
    private let key: String

    init(_ connection: Connection, to type: ObjectTypeSchema, _ schema: DatabaseSchema) {
        self.connection = connection
        self.type = type
        self.schema = schema
        formerName = "martlet.former.\(type.name)"
        key = TableLayout(type).keyColumn
    }

    /// The values of the new primary key must be unique.
    func run() throws {
        connection.finalizeStatements()
        for name in try connection.indexNames(prefix: type.name + ".") {
            try connection.execute("DROP INDEX \(SQLText.identifier(name))")
        }
        try connection.renameTable(type.name, formerName)
        let layout = TableLayout(type)
        try connection.execute(TableLayout.tableDefinition(type))
        let columns = layout.columns.map(\.name) + (layout.hasSpecials ? [TableLayout.specialColumn] : [])
        let list = columns.joined(separator: ", ")
        try connection.execute(
            "INSERT INTO \(layout.table) (\(list)) SELECT \(list) FROM \(formerTable) ORDER BY \(key)")
        for property in type.properties {
            for statement in TableLayout.indexes(of: property, in: type) { try connection.execute(statement) }
        }
        for collection in layout.collections { try moveOwners(collection) }
        for incoming in schema[type.name]?.incoming ?? [] {
            // `schema` describes the tables as they were before any rewrite. If another type was already rewritten,
            // its description is still valid here, because a rewrite does not rename link columns.
            try updateLinks(schema[incoming.table].type, schema[incoming.table].type.properties[incoming.property])
        }
        try updateAnyLinks()
        connection.finalizeStatements()
        try connection.execute("DROP TABLE \(formerTable)")
    }

    private var formerTable: String { SQLText.identifier(formerName) }

    /// SQL for the new key of the row whose old key is in `column`. The column is qualified with its table, because the
    /// subquery may have a column with the same name.
    private func newKey(_ table: String, _ column: String) -> String {
        "(SELECT f.\(key) FROM \(formerTable) AS f WHERE f.\"_key\" = \(table).\(column))"
    }

    // Copies the rows of a collection to new tables. If the keys were updated in place, an updated key could collide
    // with a key that is not updated yet.
    private func moveOwners(_ collection: TableLayout.Collection) throws {
        let property = type.properties[collection.property]
        let name = "\(type.name).\(property.name)"
        for part in collection.targetTable == nil ? [""] : ["", ".targets"] {
            try connection.renameTable(name + part, "martlet.former.\(name)\(part)")
        }
        for statement in TableLayout.collectionDefinition(property, in: type) { try connection.execute(statement) }
        let chunks = SQLText.identifier("martlet.former.\(name)")
        try connection.execute(
            "INSERT INTO \(collection.chunkTable) SELECT \(newKey(chunks, "owner")), ordinal, count, elements "
                + "FROM \(chunks)")
        try connection.execute("DROP TABLE \(chunks)")
        guard let targets = collection.targetTable else { return }
        let old = SQLText.identifier("martlet.former.\(name).targets")
        try connection.execute("INSERT INTO \(targets) SELECT target, \(newKey(old, "owner")), count FROM \(old)")
        try connection.execute("DROP TABLE \(old)")
    }

    // MARK: Links to the rows

    private func updateLinks(_ holder: ObjectTypeSchema, _ property: PropertySchema) throws {
        let layout = TableLayout(holder)
        guard property.isCollection else {
            let column = SQLText.identifier(property.name)
            return try connection.execute(
                "UPDATE \(layout.table) SET \(column) = \(newKey(layout.table, column)) WHERE \(column) IS NOT NULL")
        }
        let collection = layout.collection(of: property.index)
        try updateElements(collection.chunkTable)
        guard let targets = collection.targetTable else { return }
        let (name, temporary) = ("\(holder.name).\(property.name).targets", "martlet.former.targets")
        let old = SQLText.identifier(temporary)
        try connection.renameTable(name, temporary)
        for statement in TableLayout.collectionDefinition(property, in: holder).dropFirst() {
            try connection.execute(statement)
        }
        try connection.execute(
            "INSERT INTO \(targets) SELECT \(newKey(old, "target")), owner, count FROM \(old)")
        try connection.execute("DROP TABLE \(old)")
    }

    // `schema` still describes the old table, although the table already has the new layout. This is correct because
    // the columns of `AnyRealmValue` properties have the same names in both tables.
    private func updateAnyLinks() throws {
        guard let id = schema[type.name]?.id,
            let anyLinks = try AnyLinkMigration(connection, schema.tables.values.map { ($0.id, $0.type) })
        else { return }
        let find = try connection.statement("SELECT \(key) FROM \(formerTable) WHERE \"_key\" = ?1")
        try anyLinks.replace { link in
            guard link.table == id else { return link }
            if case .integer(let key) = try newKey(.integer(link.key), find) { return AnyLink(id, key) }
            return nil
        }
    }

    private func updateElements(_ chunks: String) throws {
        let find = try connection.statement("SELECT \(key) FROM \(formerTable) WHERE \"_key\" = ?1")
        let select = try connection.statement(
            "SELECT owner, ordinal, count, elements FROM \(chunks) WHERE (owner, ordinal) > (?1, ?2) "
                + "ORDER BY owner, ordinal LIMIT 1")
        let update = try connection.statement("UPDATE \(chunks) SET elements = ?3 WHERE owner = ?1 AND ordinal = ?2")
        var last: (owner: ObjectKey, ordinal: Int64) = (.min, .min)
        while true {
            select.bind([.integer(last.owner), .integer(last.ordinal)])
            guard try select.step() else { return }
            last = (select.integer(0), select.integer(1))
            let count = Int(select.integer(2))
            let elements = select.withBlob(3) { ElementCodec.decode($0, count: count) }
            select.reset()
            guard let elements else {
                throw EngineError.damaged("a collection in \(chunks) cannot be read", path: connection.options.path)
            }
            let moved = try elements.map { try newKey($0, find) }
            update.bind([.integer(last.owner), .integer(last.ordinal), .blob(ElementCodec.encode(moved))])
            try update.run()
        }
    }

    // Returns strings unchanged: they are the keys of maps.
    private func newKey(_ element: SQLValue, _ find: Statement) throws -> SQLValue {
        guard case .integer = element else { return element }
        find.bind(element, at: 1)
        guard try find.step() else { return .null }
        defer { find.reset() }
        return find.value(0)
    }
}
