import MartletSQLite
import MartletValues

/// Checks the result of a migration against the schema.
struct MigrationChecks {
    private let migration: TypeMigration
    private let connection: Connection
    private let schema: DatabaseSchema

    init(_ migration: TypeMigration) {
        self.migration = migration
        connection = migration.connection
        schema = DatabaseSchema(migration.migratingTypes)
    }

    private static let exampleCount = Duplicates.exampleCount
    /// The maximum number of keys in one statement.
    private static let listedKeys = 1_000

    // MARK: Values

    /// Returns one sentence for each property that still has unconverted values. These values could not be converted,
    /// and the user's code has not replaced them.
    func unconvertedValues() throws -> [String] {
        try migration.unconverted.remaining.map { type, index, keys in
            guard let property = schema[type]?.type.properties[index], let previous = migration.previousType(of: type),
                let old = previous.type[migration.source(of: property.name, in: type)]
            else {
                let name = schema[type].map { $0.type.properties[index].name } ?? "number \(index)"
                return
                    "property '\(type).\(name)' has no value in \(keys.count == 1 ? "1 object" : "\(keys.count) objects"): "
                    + "set it in the 'migrationBlock'"
            }
            let examples = try keys.prefix(Self.exampleCount).map {
                "\(try previous.text(of: old, $0)) of '\(previous.type.name)' \(try previous.name(of: $0))"
            }
            let more = keys.count - examples.count
            return
                "property '\(type).\(property.name)' was '\(old.typeDescription)' and is '\(property.typeDescription)', "
                + "and \(keys.count == 1 ? "a value does" : "\(keys.count) values do") not convert "
                + "(\((examples + (more > 0 ? ["and \(more) more"] : [])).joined(separator: ", "))): "
                + "set it for \(keys.count == 1 ? "this object" : "these objects") in the 'migrationBlock'"
        }
    }

    // MARK: Owners

    /// Returns one sentence for each problem of each type that becomes embedded. The problems are objects without an
    /// owner, objects that no top-level object contains, objects with several owners, and objects to which
    /// `AnyRealmValue`s link.
    func owners(of types: [ObjectTypeSchema]) throws -> [String] {
        if types.isEmpty { return [] }
        var conflicts: [String] = []
        let containment = try Containment(schema, connection)
        for type in types {
            guard let previous = migration.previousType(of: type.name) else { continue }
            let unowned = try keys("SELECT \"_key\" FROM \(SQLText.identifier(type.name)) WHERE \(isUnowned(type))")
            let now = "is embedded now"
            conflicts += try conflict(
                type, now, unowned, "no owner", "delete them in the 'migrationBlock', or give them one", previous)
            let known = Set(unowned)
            let lost = schema[type.name].flatMap { containment.unreachable[$0.id] }?.filter { !known.contains($0) }
            conflicts += try conflict(
                type, now, lost ?? [], "no owner that belongs to a top-level object",
                "delete them in the 'migrationBlock', or give them one", previous)
            conflicts += try severalOwners(of: type, now, previous)
            conflicts += try conflict(
                type, now, anyLinkTargets(of: type), "links from values of type 'AnyRealmValue'",
                "replace these values in the 'migrationBlock'", previous)
        }
        return conflicts
    }

    /// Returns one sentence for each named type that has objects with several owners. The named types were already
    /// embedded before the migration.
    func severalOwners(of names: Set<String>) throws -> [String] {
        try names.sorted().flatMap { name -> [String] in
            guard let type = schema[name]?.type, let previous = migration.previousType(of: name) else { return [] }
            return try severalOwners(of: type, "is embedded", previous)
        }
    }

    private func severalOwners(
        of type: ObjectTypeSchema, _ state: String, _ previous: PreviousType
    ) throws -> [String] {
        let uses = owners(of: type).map(\.usesSQL).joined(separator: " UNION ALL ")
        guard !uses.isEmpty else { return [] }
        let shared = try keys("SELECT key FROM (\(uses)) GROUP BY key HAVING sum(uses) > 1 ORDER BY key")
        return try conflict(
            type, state, shared, "several owners", "give each owner an object of its own in the 'migrationBlock'",
            previous)
    }

    private func anyLinkTargets(of type: ObjectTypeSchema) throws -> [ObjectKey] {
        guard let id = migration.migratingTypes.first(where: { $0.type.name == type.name })?.id,
            try AnyLinkIndex.exists(connection)
        else { return [] }
        return try keys("SELECT DISTINCT target FROM \(AnyLinkIndex.name) WHERE target_type = \(id) ORDER BY target")
    }

    private func conflict(
        _ type: ObjectTypeSchema, _ state: String, _ keys: [ObjectKey], _ problem: String, _ fix: String,
        _ previous: PreviousType
    ) throws -> [String] {
        guard !keys.isEmpty else { return [] }
        var examples = try keys.prefix(Self.exampleCount).map { try previous.name(of: $0) }
        if keys.count > examples.count { examples.append("and \(keys.count - examples.count) more") }
        return [
            "'\(type.name)' \(state), and \(keys.count) of its objects \(keys.count == 1 ? "has" : "have") \(problem) "
                + "(\(examples.joined(separator: ", "))): \(fix)"
        ]
    }

    /// Deletes the embedded objects that no top-level object contains any more. For example, the property that
    /// contained them was removed from the schema.
    func deleteUnowned() throws {
        let containment = try Containment(schema, connection)
        for (id, keys) in containment.unreachable.sorted(by: { $0.key < $1.key }) {
            guard let table = schema.tables[id] else { continue }
            for start in stride(from: 0, to: keys.count, by: Self.listedKeys) {
                let list = keys[start..<min(start + Self.listedKeys, keys.count)].map(String.init)
                try delete(table.layout, where: "\(table.layout.keyColumn) IN (\(list.joined(separator: ", ")))")
            }
        }
        let types = schema.tables.values.map(\.type).filter(\.isEmbedded).sorted { $0.name < $1.name }
        // A deleted object may have owned embedded objects, which then have no owner. So the loop repeats until it
        // deletes no object.
        var isDone = false
        while !isDone {
            isDone = true
            for type in types where try deleteUnowned(type) { isDone = false }
        }
    }

    private func deleteUnowned(_ type: ObjectTypeSchema) throws -> Bool {
        try delete(TableLayout(type), where: isUnowned(type))
        return connection.changedRows > 0
    }

    private func delete(_ layout: TableLayout, where condition: String) throws {
        for collection in layout.collections {
            for table in [collection.chunkTable, collection.targetTable].compactMap({ $0 }) {
                try connection.run(
                    "DELETE FROM \(table) WHERE owner IN (SELECT \(layout.keyColumn) FROM \(layout.table) WHERE \(condition))"
                )
            }
        }
        for index in layout.fullTextIndexes {
            try connection.run(
                "DELETE FROM \(index.table) WHERE rowid IN (SELECT \(layout.keyColumn) FROM \(layout.table) WHERE \(condition))"
            )
        }
        try connection.run("DELETE FROM \(layout.table) WHERE \(condition)")
    }

    private struct OwningProperty {
        /// SQL for the keys of the objects that the property contains.
        let ownedKeysSQL: String
        /// SQL for these keys, each with the number of times that the property contains the object.
        let usesSQL: String
    }

    private func owners(of type: ObjectTypeSchema) -> [OwningProperty] {
        (schema[type.name]?.incoming ?? []).compactMap { incoming in
            let holder = schema[incoming.table]
            let property = holder.type.properties[incoming.property]
            guard property.element.isEmbedded else { return nil }
            guard let column = holder.layout.column(of: property.index)?.name else {
                guard let targets = holder.layout.collection(of: property.index).targetTable else { return nil }
                return OwningProperty(
                    ownedKeysSQL: "SELECT target FROM \(targets)",
                    usesSQL: "SELECT target AS key, count AS uses FROM \(targets)")
            }
            let rows = "FROM \(holder.layout.table) WHERE \(column) IS NOT NULL"
            return OwningProperty(
                ownedKeysSQL: "SELECT \(column) \(rows)", usesSQL: "SELECT \(column) AS key, 1 AS uses \(rows)")
        }
    }

    /// SQL that is true for the objects of a type that have no owner.
    private func isUnowned(_ type: ObjectTypeSchema) -> String {
        let conditions = owners(of: type).map { "\"_key\" NOT IN (\($0.ownedKeysSQL))" }
        return conditions.isEmpty ? "1" : conditions.joined(separator: " AND ")
    }

    private func keys(_ sql: String) throws -> [ObjectKey] {
        let statement = try connection.statement(sql)
        var keys: [ObjectKey] = []
        while try statement.step() { keys.append(statement.integer(0)) }
        return keys
    }
}

extension TypeMigration {
    func previousType(of name: String) -> PreviousType? { storedType(of: name).map { PreviousType($0, previous) } }

    /// The name of the old property whose values the migration copied to `property`. It is the name in the file before
    /// the migration.
    package func source(of property: String, in type: String) -> String {
        if let name = renamed[type]?[property] { return name }
        for step in diff.steps {
            switch step {
            case .rebuildType(type, let sources): return sources[property] ?? property
            case .renameProperty(type, let former, property): return former
            default: break
            }
        }
        return property
    }
}
