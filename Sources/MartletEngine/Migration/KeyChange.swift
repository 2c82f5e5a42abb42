import MartletSQLite

/// Makes an integer property the key of its rows: the rows move to it, and everything that leads to them follows.
struct KeyChange {
    private let connection: Connection
    private let staged: ObjectTypeSchema
    private let type: ObjectTypeSchema
    private let schema: DatabaseSchema
    /// The rows under their former keys, while theirs are made.
    private let former: String
    private let key: String

    init(_ connection: Connection, from staged: ObjectTypeSchema, to type: ObjectTypeSchema, _ schema: DatabaseSchema) {
        self.connection = connection
        self.staged = staged
        self.type = type
        self.schema = schema
        former = "martlet.former.\(type.name)"
        key = TableLayout(type).keyColumn
    }

    /// The values of the property are all different.
    func run() throws {
        connection.forgetStatements()
        for name in try connection.indexNames(prefix: type.name + ".") {
            try connection.execute("DROP INDEX \(SQLText.identifier(name))")
        }
        try connection.renameTable(type.name, former)
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
            // Types that are keyed anew later have the same columns.
            try follow(schema[incoming.table].type, schema[incoming.table].type.properties[incoming.property])
        }
        try followAnyLinks()
        connection.forgetStatements()
        try connection.execute("DROP TABLE \(formerTable)")
    }

    private var formerTable: String { SQLText.identifier(former) }

    /// The present key of the row whose former key a column has; named with its table, since these rows may have one of
    /// the same name.
    private func present(_ table: String, _ column: String) -> String {
        "(SELECT f.\(key) FROM \(formerTable) AS f WHERE f.\"_key\" = \(table).\(column))"
    }

    // Through a table of their own: one by one, keys could meet on the way.
    private func moveOwners(_ collection: TableLayout.Collection) throws {
        let property = type.properties[collection.property]
        let name = "\(type.name).\(property.name)"
        for part in collection.targets == nil ? [""] : ["", ".targets"] {
            try connection.renameTable(name + part, "martlet.former.\(name)\(part)")
        }
        for statement in TableLayout.collectionDefinition(property, in: type) { try connection.execute(statement) }
        let chunks = SQLText.identifier("martlet.former.\(name)")
        try connection.execute(
            "INSERT INTO \(collection.chunks) SELECT \(present(chunks, "owner")), ordinal, count, elements FROM \(chunks)"
        )
        try connection.execute("DROP TABLE \(chunks)")
        guard let targets = collection.targets else { return }
        let old = SQLText.identifier("martlet.former.\(name).targets")
        try connection.execute("INSERT INTO \(targets) SELECT target, \(present(old, "owner")), count FROM \(old)")
        try connection.execute("DROP TABLE \(old)")
    }

    // MARK: What leads here

    private func follow(_ holder: ObjectTypeSchema, _ property: PropertySchema) throws {
        let layout = TableLayout(holder)
        guard property.isCollection else {
            let column = SQLText.identifier(property.name)
            return try connection.execute(
                "UPDATE \(layout.table) SET \(column) = \(present(layout.table, column)) WHERE \(column) IS NOT NULL")
        }
        let collection = layout.collection(of: property.index)
        try followElements(collection.chunks)
        guard let targets = collection.targets else { return }
        let (name, temporary) = ("\(holder.name).\(property.name).targets", "martlet.former.targets")
        let old = SQLText.identifier(temporary)
        try connection.renameTable(name, temporary)
        for statement in TableLayout.collectionDefinition(property, in: holder).dropFirst() {
            try connection.execute(statement)
        }
        try connection.execute(
            "INSERT INTO \(targets) SELECT \(present(old, "target")), owner, count FROM \(old)")
        try connection.execute("DROP TABLE \(old)")
    }

    // This type is still listed as it was, and lies as it is going to: its values of any type are found in the columns of the
    // same names.
    private func followAnyLinks() throws {
        guard let id = schema[type.name]?.id,
            let rows = try AnyLinkRows(connection, schema.tables.values.map { ($0.id, $0.type) })
        else { return }
        let find = try connection.statement("SELECT \(key) FROM \(formerTable) WHERE \"_key\" = ?1")
        try rows.replace { link in
            guard link.table == id else { return link }
            if case .integer(let key) = try present(.integer(link.key), find) { return AnyLink(id, key) }
            return nil
        }
    }

    private func followElements(_ chunks: String) throws {
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
            let moved = try elements.map { try present($0, find) }
            update.bind([.integer(last.owner), .integer(last.ordinal), .blob(ElementCodec.encode(moved))])
            try update.run()
        }
    }

    // Keys of maps are texts.
    private func present(_ element: SQLValue, _ find: Statement) throws -> SQLValue {
        guard case .integer = element else { return element }
        find.bind(element, at: 1)
        guard try find.step() else { return .null }
        defer { find.reset() }
        return find.value(0)
    }
}
