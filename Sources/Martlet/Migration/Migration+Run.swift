import MartletEngine

extension Migration {
    /// The function that the engine calls during a migration. It runs the user's block.
    static func body(
        _ block: @escaping MigrationBlock, _ configuration: Realm.Configuration
    ) -> @Sendable (MigrationContext) throws -> Void {
        { context in
            let migration = Migration(context, configuration)
            defer { migration.end() }
            do {
                try block(migration, context.oldSchemaVersion)
            } catch {
                throw EngineError(
                    .stopped, path: configuration.path, "the 'migrationBlock' has thrown an error; nothing was changed",
                    cause: error)
            }
            if let failure = migration.newContext.pending.failure { throw failure }
            migration.requireRenameTargets()
            migration.flushChanges()
            try migration.newContext.flush()
            try migration.newContext.requireAllowedDeletions()
        }
    }

    private convenience init(_ context: MigrationContext, _ configuration: Realm.Configuration) {
        let declared = configuration.models
        let here = Confinement.currentThread()
        let oldContext = RealmContext(
            context.oldCoordinator, configuration, Self.models(context.oldCoordinator.schema, [:]), .beforeMigration,
            here,
            nil)
        oldContext.replaceSnapshot(context.oldHandle)
        let newContext = RealmContext(
            context.newCoordinator, configuration, Self.models(context.newCoordinator.schema, declared), .migration,
            here,
            nil)
        newContext.transaction = context.transaction
        oldContext.newContext = newContext
        oldContext.formerName = { [migration = context.migration] in migration.source(of: $0, in: $1) }
        oldContext.selfContainingRow = { [migration = context.migration] in try migration.previousCycle(from: $0) }
        self.init(context.migration, oldContext: oldContext, newContext: newContext, declared)
    }

    static func models(_ schema: DatabaseSchema, _ declared: [String: ModelClass]) -> [String: ModelClass] {
        schema.tables.values.reduce(into: [:]) { models, table in
            let type = table.type
            let declaration = declared[type.name]?.declaration ?? TypeDeclaration(type) { TableLayout.zeroRow(type) }
            models[type.name] = ModelClass(type, MigrationObject.self, declaration) { MigrationObject($0) }
        }
    }
}

extension RealmContext {
    /// Releases everything that uses the connections of the migration, because the engine continues to use these
    /// connections.
    fileprivate func detach() {
        cursors = []
        for table in tables.values {
            table.accessors.forEach(invalidate)
            table.rows.releaseStatements()
        }
        for reference in collections.values { reference.core?.ownerWasDeleted() }
        collections = [:]
    }

    func endMigration() {
        pending.removeAll()
        detach()
        transaction = nil
        replaceSnapshot(nil)
    }

    /// Removes collections that are no longer referenced.
    func removeUnusedCollections() {
        if !collections.isEmpty { collections = collections.filter { $0.value.core != nil } }
    }

    /// Discards the cached values of a table whose rows were changed by SQL, not through accessors.
    func discardValues(of table: ObjectTable) {
        bumpChangeCount()
        table.accessors.forEach(markStale)
        for (id, reference) in collections where id.table == table.id { reference.core?.discardElements() }
    }
}
