import MartletSQLite
import MartletValues

/// One migration inside the caller's transaction. It converts the object types of the file to the object types of the
/// program.
///
/// `prepare` changes and fills the tables as far as possible without the user's code (the `migrationBlock`). Then the
/// user's code can read the previous version and change the new rows. `finish` checks the result against the schema.
/// Until `finish` is called, the primary keys and unique values of a rebuilt type may repeat, so that the user's code
/// can correct them one by one. There is one exception: an integer primary key that was already the primary key stays
/// unique.
package final class TypeMigration {
    /// A connection on which the version before the migration is pinned.
    let previous: Connection
    let connection: Connection
    package let diff: SchemaDiff
    private let stored: [String: ObjectTypeSchema]
    private let declarations: [String: TypeDeclaration]
    private(set) var unconverted = UnconvertedValues()
    /// The properties that the user's code has renamed. The keys are the name of the type and the current name of the
    /// property. The value is the name of the property in the file.
    private(set) var renamed: [String: [String: String]] = [:]
    /// Which rows of the previous version contain which other rows, through properties that have the same embedded type
    /// in both versions. The value is computed at its first use. If the user's code renames a property, the value
    /// becomes nil again.
    private var previousContainment: Containment?
    /// Types that `finish` removes from the file if they have no objects and no remaining type refers to them.
    private var dropped: Set<String> = []
    /// The types with their layout during the migration, and their numbers in the catalog.
    package private(set) var migratingTypes: [(id: TableID, type: ObjectTypeSchema)] = []

    init(
        previous: Connection, _ connection: Connection, _ diff: SchemaDiff, stored: [ObjectTypeSchema],
        _ declarations: [TypeDeclaration]
    ) {
        self.previous = previous
        self.connection = connection
        self.diff = diff
        self.stored = Dictionary(stored.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.declarations = Dictionary(
            declarations.map { ($0.type.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Changes the tables of the file to the tables of the new schema, and fills them.
    func prepare() throws {
        let declared = Array(declarations.values)
        _ = try SchemaChange(connection, declared).apply(diff.steps.filter { !$0.isAboutUniques })
        var types: [String: ObjectTypeSchema] = [:]
        for case .rebuildType(let name, let sources) in diff.steps {
            types[name] = try rebuild(name, sources)
        }
        connection.finalizeStatements()
        let changed = Set(diff.steps.compactMap(\.nameOfChangedType))
        migratingTypes = try Catalog.types(connection).map { id, type in
            let current = types[type.name] ?? type
            return (id, changed.contains(type.name) ? current.withoutFullTextIndexes : current)
        }
        try AnyLinkMigration(connection, migratingTypes)?.rebuildIndex()
    }

    private func rebuild(_ name: String, _ sources: [String: String]) throws -> ObjectTypeSchema? {
        guard let declaration = declarations[name], let old = storedType(of: name) else { return nil }
        let type = declaration.type.staged(from: old, sources)
        var converters: [PropertyIndex: PropertyConverter] = [:]
        for property in type.properties where property.isColumn || property.isCollection {
            converters[property.index] = sources[property.name].flatMap { converter(old, $0, property, declaration) }
        }
        try TableRebuild(
            previous: PreviousType(old, previous), type: type, declaration: declaration, converters: converters,
            connection: connection
        ).run(&unconverted)
        return type
    }

    private func converter(
        _ old: ObjectTypeSchema, _ name: String, _ property: PropertySchema, _ declaration: TypeDeclaration?
    ) -> PropertyConverter? {
        old[name].map { PropertyConverter($0.retargeted(diff.currentName), property, declaration) }
    }

    // MARK: Names

    /// The type in the file that becomes the type with the given name. Nil if the named type is new.
    package func storedType(of name: String) -> ObjectTypeSchema? {
        let former = diff.renames.first { $0.value == name }?.key
        return stored[former ?? name]
    }

    /// The name that a type of the file has in the program.
    package func currentName(_ name: String) -> String { diff.currentName(name) }

    // MARK: While the user's code runs

    /// Records that the user's code has deleted or assigned values.
    package func markResolved(_ changes: ChangeSet) {
        for (id, type) in migratingTypes {
            if let touched = changes.tables[id] { unconverted.markResolved(touched, of: type.name) }
        }
    }

    /// Copies the values of a property in the file to a property of all rows that still exist.
    package func fill(_ type: ObjectTypeSchema, _ property: PropertySchema, from name: String) throws {
        guard let old = storedType(of: type.name),
            let converter = converter(old, name, property, declarations[type.name])
        else {
            return
        }
        renamed[type.name, default: [:]][property.name] = name
        previousContainment = nil
        try PropertyCopier(
            previous: PreviousType(old, previous), type: type, converter: converter,
            targets: LinkTargets(connection, migratingTypes), connection: connection
        ).run(&unconverted)
        if property.element == .scalar(.any) { try AnyLinkMigration(connection, migratingTypes)?.rebuildIndex() }
    }

    /// Requests that `finish` drops the tables of a type that the program does not declare. The caller has already
    /// deleted the rows. `finish` keeps the tables if the user's code creates objects of the type later, or if a type
    /// that remains refers to this type.
    package func dropAtEnd(_ type: ObjectTypeSchema) { dropped.insert(type.name) }

    private func drop(_ type: ObjectTypeSchema) throws {
        try FullTextIndexes(connection).drop(of: [type.name])
        connection.finalizeStatements()
        for suffix in try connection.tableSuffixes(type.name + ".") {
            try connection.execute("DROP TABLE \(SQLText.identifier("\(type.name).\(suffix)"))")
        }
        try connection.execute("DROP TABLE \(SQLText.identifier(type.name))")
        try connection.run("DELETE FROM martlet_types WHERE name = ?1", [.text(type.name)])
        migratingTypes.removeAll { $0.type.name == type.name }
    }

    /// The types to remove from the file: those in `dropped` that have no objects, and to which no remaining type
    /// refers.
    private func typesToDrop() throws -> [ObjectTypeSchema] {
        var types = try migratingTypes.map(\.type).filter { try dropped.contains($0.name) && isEmpty($0) }
        var count = -1
        while count != types.count {
            count = types.count
            let removed = Set(types.map(\.name))
            let remaining = migratingTypes.map(\.type).filter { !removed.contains($0.name) }
            let targets = Set(remaining.flatMap { $0.properties.compactMap(\.element.target) })
            types.removeAll { targets.contains($0.name) }
        }
        return types
    }

    private func isEmpty(_ type: ObjectTypeSchema) throws -> Bool {
        try connection.integer("SELECT 1 FROM \(SQLText.identifier(type.name)) LIMIT 1") == nil
    }

    package func isDeclared(_ name: String) -> Bool { declarations[name] != nil }

    /// Which of the current rows contain which other rows.
    package func containment(allTypes: Bool) throws -> Containment {
        try Containment(DatabaseSchema(migratingTypes), connection, allTypes: allTypes)
    }

    /// Returns a row that contains itself, and that would be copied together with `row` to a property of an embedded
    /// type. Returns nil if there is no such row. `row` and the result are rows of the previous version.
    package func previousCycle(from row: RowID) throws -> RowID? {
        let containment =
            try previousContainment
            ?? Containment(DatabaseSchema(migratingTypes), previous) { [self] table, property in
                guard let old = previousType(of: table.type.name),
                    let former = old.type[source(of: property.name, in: table.type.name)],
                    former.element.target.map(diff.currentName) == property.element.target
                else { return nil }
                return (old.layout, former)
            }
        previousContainment = containment
        return containment.cycle(from: row)
    }

    // MARK: Result

    /// Returns one sentence for each conflict of the rows with the schema. If there are conflicts, the caller rolls the
    /// transaction back.
    func finish() throws -> [String] {
        connection.finalizeStatements()
        for type in try typesToDrop() { try drop(type) }
        let checks = MigrationChecks(self)
        var conflicts = try checks.unconvertedValues()
        let rebuilt = diff.steps.compactMap { step -> ObjectTypeSchema? in
            if case .rebuildType(let name, _) = step { declarations[name]?.type } else { nil }
        }
        for type in rebuilt {
            if let key = type.primaryKey { conflicts += try Duplicates(connection, type, [key]).conflicts() }
        }
        let becomeEmbedded = rebuilt.filter { $0.isEmbedded && storedType(of: $0.name)?.isEmbedded == false }
        conflicts += try checks.owners(of: becomeEmbedded)
        conflicts += try checks.severalOwners(of: renamedTargets.subtracting(becomeEmbedded.map(\.name)))
        guard conflicts.isEmpty else { return conflicts }
        for type in rebuilt { try finishKeys(of: type) }
        try checks.deleteUnowned()
        let change = SchemaChange(connection, Array(declarations.values))
        for step in diff.steps {
            switch step {
            case .rebuildUniques(let name), .rebuildType(let name, _):
                if let type = declarations[name]?.type { conflicts += try change.rebuildUniques(type) }
            default: break
            }
        }
        conflicts += try duplicatesOfOthers()
        try change.createFullTextIndexes(diff.steps)
        try AnyLinkMigration(connection, Catalog.types(connection))?.rebuildIndex()
        return conflicts
    }

    /// The embedded types of the properties that the user's code has renamed. They are checked because that code can
    /// rename one property of the file to several properties. All these properties then own the same objects.
    private var renamedTargets: Set<String> {
        var targets: Set<String> = []
        for (_, type) in migratingTypes {
            for name in renamed[type.name, default: [:]].keys {
                if let element = type[name]?.element, element.isEmbedded, let target = element.target {
                    targets.insert(target)
                }
            }
        }
        return targets
    }

    // Finds repeated unique values in the types that the migration does not change, because the user's code may have
    // changed objects of these types.
    private func duplicatesOfOthers() throws -> [String] {
        let rebuilt = Set(
            diff.steps.compactMap { step -> String? in
                switch step {
                case .rebuildUniques(let name), .rebuildType(let name, _): name
                default: nil
                }
            })
        return try Catalog.types(connection).map(\.type).filter { !rebuilt.contains($0.name) }.flatMap { type in
            try type.uniques.flatMap { try Duplicates(connection, type, $0).conflicts() }
        }
    }

    private func finishKeys(of type: ObjectTypeSchema) throws {
        guard let key = type.primaryKey, let staged = migratingTypes.first(where: { $0.type.name == type.name })?.type,
            staged.primaryKey == nil
        else { return }
        if type.hasIntegerKey {
            try PrimaryKeyRewrite(connection, to: type, DatabaseSchema(self.migratingTypes)).run()
        } else {
            for statement in TableLayout.indexes(of: type.properties[key], in: type) {
                try connection.execute(statement)
            }
        }
    }
}

extension SchemaDiff.Step {
    fileprivate var isAboutUniques: Bool {
        if case .rebuildUniques = self { true } else { false }
    }

    /// The type whose full-text indexes are created again after the migration.
    fileprivate var nameOfChangedType: String? {
        switch self {
        case .createType(let name), .replaceSchemaFacts(let name): name
        default: nil
        }
    }
}

extension ObjectTypeSchema {
    fileprivate var withoutFullTextIndexes: ObjectTypeSchema {
        var type = self
        for index in type.properties.indices { type.properties[index].isFullText = false }
        return type
    }

    /// The type with its layout during a migration: primary keys and unique values may repeat until the end. An integer
    /// primary key that does not change stays the key of the rows.
    fileprivate func staged(from old: ObjectTypeSchema, _ sources: [String: String]) -> ObjectTypeSchema {
        var staged = self
        staged.uniques = []
        guard let primaryKey, let former = old.primaryKey, hasIntegerKey, old.hasIntegerKey,
            sources[properties[primaryKey].name] == old.properties[former].name,
            properties[primaryKey].element == old.properties[former].element
        else {
            staged.primaryKey = nil
            return staged
        }
        return staged
    }
}
