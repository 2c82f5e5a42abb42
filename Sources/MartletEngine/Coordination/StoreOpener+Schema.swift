import MartletSQLite
import MartletValues

/// Updates the object types of a file.
extension StoreOpener {
    typealias Contents = (meta: Catalog.Meta, types: [(id: TableID, type: ObjectTypeSchema)])

    func applySchema(_ connection: Connection, _ writeLock: WriteLock) throws -> Contents {
        let found = try Catalog.contents(
            connection,
            known: Dictionary(options.types.map { ($0.facts, $0.type) }, uniquingKeysWith: { first, _ in first }))
        try checkFormat(found.meta.format)
        if options.usesStoredSchema { return found }
        let diff = try acceptableDiff(found)
        if options.isReadOnly { return found }
        let isCurrent = diff.isEmpty && !isOlder(found.meta)
        if try isCurrent && !UniqueIndexes(connection).exist(in: found.types) { return found }
        try connection.run("ROLLBACK")
        try writeLock.acquire()
        defer { writeLock.release() }
        try connection.requireUnmoved()
        if try connection.value("PRAGMA journal_mode") != .text("wal") { try enableWriteAheadLog(connection) }
        try transaction(on: connection) { try changeSchema(connection) }
        connection.finalizeStatements()
        let contents = try Catalog.contents(connection, known: [:])
        writeLock.record(contents.meta.version)
        return contents
    }

    private func isOlder(_ meta: Catalog.Meta) -> Bool {
        UInt64(bitPattern: meta.schemaVersion) < options.schemaVersion
    }

    // Reads the version row and the types again under the lock, because another process may have changed the file.
    private func changeSchema(_ connection: Connection) throws {
        let meta = try Catalog.meta(connection)
        let types = try Catalog.types(connection)
        let diff = try acceptableDiff((meta, types))
        try UniqueIndexes(connection).makeNonUnique()
        guard !diff.isEmpty || isOlder(meta) else { return }
        try options.checkCancellation()
        let migrates = isOlder(meta) && (diff.needsMigration || options.migration != nil)
        if migrates {
            guard options.sync == nil else { throw cannotMigrateSynced(diff) }
            try migrate(connection, meta, types.map(\.type), diff)
        } else {
            let change = SchemaChange(connection, options.types)
            try requireEmpty(
                change.apply(diff.steps),
                orThrow: "objects in the file violate a rule of the schema; nothing was changed")
            try change.createFullTextIndexes(diff.steps)
            try AnyLinkMigration(connection, Catalog.types(connection))?.rebuildIndex()
        }
        let isChanged = migrates || !diff.isEmpty
        try connection.execute(
            """
            UPDATE martlet_meta SET version = version + 1, epoch = epoch + \(isChanged ? 1 : 0), \
            schema_version = \(Int64(bitPattern: options.schemaVersion))
            """)
        // New types do not affect the stored change sets. After other changes of the schema, the change sets are
        // deleted, because property indexes may differ, and because migrations record no changes.
        guard migrates || !diff.onlyAddsTypes else { return try recordNoChange(connection) }
        try connection.execute("DELETE FROM martlet_changes")
    }

    // Called if the schema change only adds types, or changes only the schema version. Stores an empty change set for
    // the new version, so that observers do not have to compare all values.
    private func recordNoChange(_ connection: Connection) throws {
        let version = Int64(bitPattern: try Catalog.meta(connection).version)
        try connection.run(
            "INSERT INTO martlet_changes VALUES (?1, ?2)",
            [.integer(version), .blob(ChangeSetCodec.encode(ChangeSet()))])
    }

    // MARK: Migration

    // The old data is read through a second connection. This process holds the write lock, so the newest version on
    // that connection is the version before the migration.
    private func migrate(
        _ connection: Connection, _ meta: Catalog.Meta, _ types: [ObjectTypeSchema], _ diff: SchemaDiff
    ) throws {
        var oldOptions = options.connection
        oldOptions.createsFile = false
        let old = try Connection(oldOptions)
        try QueryFunctions.install(on: old)
        try old.run("BEGIN")
        guard try Catalog.meta(old) == meta else {
            throw EngineError(
                .inputOutput, path: path,
                "the version before the migration cannot be read; nothing was changed; try again")
        }
        let migration = TypeMigration(previous: old, connection, diff, stored: types, options.types)
        try migration.prepare()
        if let block = options.migration {
            let context = MigrationContext(migration, options, meta, types)
            defer { context.end() }
            progress.hasCalledMigration = true
            try block(context)
            try context.finishWriting()
        }
        try requireEmpty(
            migration.finish(),
            orThrow: "the migration to schema version \(options.schemaVersion) leaves objects that the schema "
                + "does not allow; nothing was changed")
        try? old.run("ROLLBACK")
        old.close()
    }

    // MARK: Errors

    /// The difference between the stored and the declared types. Throws if the options do not allow this difference.
    private func acceptableDiff(_ found: Contents) throws -> SchemaDiff {
        try checkSchemaVersion(found.meta)
        let diff = SchemaDiff(stored: found.types.map(\.type), declared: options.types.map(\.type))
        try requireEmpty(
            diff.nameClashes,
            orThrow: "the schema and the file have types whose names differ only in case; nothing was changed")
        if diff.needsMigration && (options.isReadOnly || !options.mayMigrate || !isOlder(found.meta)) {
            try requireEmpty(
                diff.migrationReasons,
                orThrow: "the schema and the file differ, and the difference requires a migration; "
                    + "nothing was changed; " + suggestedFix(found.meta))
        }
        return diff
    }

    /// Throws if two types of the program have names that SQLite does not distinguish.
    func requireDistinctNames() throws(EngineError) {
        var names: [String: String] = [:]
        for name in options.types.map(\.type.name).sorted() {
            guard let other = names.updateValue(name, forKey: name.lowercased()) else { continue }
            throw EngineError(
                .invalidInput, path: path,
                "the types '\(other)' and '\(name)' have names that differ only in case; rename one of them, or leave it "
                    + "out of 'objectTypes'")
        }
    }

    private func suggestedFix(_ meta: Catalog.Meta) -> String {
        if options.isReadOnly { return "open the file once for writing, with a higher 'schemaVersion'" }
        let stored = UInt64(bitPattern: meta.schemaVersion)
        return
            "raise 'schemaVersion' above \(stored) to migrate, with a 'migrationBlock' for values that cannot be "
            + "converted automatically"
    }

    private func checkSchemaVersion(_ meta: Catalog.Meta) throws {
        let stored = UInt64(bitPattern: meta.schemaVersion)
        guard stored > options.schemaVersion else { return }
        throw EngineError(
            .schemaVersionNewer, path: path,
            "the file has schema version \(stored) and the configuration says \(options.schemaVersion); "
                + "the file was not changed; use a program with the newer schema, or raise 'schemaVersion'")
    }

    // Synchronized files are not migrated, because the changes of objects in a migration would not be uploaded.
    private func cannotMigrateSynced(_ diff: SchemaDiff) -> EngineError {
        EngineError(
            .schemaMismatch, path: path,
            "the file is synchronized and cannot be migrated, because the changes would not be uploaded; nothing was "
                + "changed; only add types and properties, and remove the 'migrationBlock'"
                + (diff.migrationReasons.isEmpty ? "" : "; the differences that need a migration:")
                + diff.migrationReasons.map { "\n  - \($0)" }.joined())
    }

    // MARK: Read-only files

    /// For a read-only file, creates a `SchemaOverlay` that presents the missing types and properties.
    func overlay(_ connection: Connection, _ found: Contents) throws -> (overlay: SchemaOverlay?, contents: Contents) {
        guard options.isReadOnly && !options.usesStoredSchema else { return (nil, found) }
        let stored = found.types.map(\.type)
        let diff = SchemaDiff(stored: stored, declared: options.types.map(\.type))
        guard let overlay = SchemaOverlay(diff, stored: stored, options.types) else { return (nil, found) }
        guard overlay.unavailable.isEmpty else {
            throw EngineError(
                .schemaMismatch, path: path,
                "the file is older than the schema and open with 'readOnly'; open it once for writing; it lacks:"
                    + overlay.unavailable.map { "\n  - \($0)" }.joined())
        }
        // An overlay that is created inside a transaction would be rolled back with the transaction.
        if connection.isInTransaction { try connection.run("ROLLBACK") }
        try overlay.apply(to: connection)
        let contents = try Catalog.contents(connection, known: [:])
        guard overlay.matches(contents.types) else {
            throw EngineError(.busy, path: path, "another process is changing the types of the file; open it again")
        }
        return (overlay, contents)
    }

    /// Throws an error with `message` and the list of differences, unless the list is empty.
    private func requireEmpty(_ differences: [String], orThrow message: String) throws {
        guard !differences.isEmpty else { return }
        throw EngineError(
            .schemaMismatch, path: path, message + ":" + differences.map { "\n  - \($0)" }.joined())
    }
}
