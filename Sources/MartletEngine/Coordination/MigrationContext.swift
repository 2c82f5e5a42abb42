import MartletSQLite

/// Gives a migration access to two versions of the file: the version before the migration, which is read-only, and the
/// new version, which the transaction of the migration writes. The context is valid until `end` is called.
package final class MigrationContext {
    package let migration: TypeMigration
    /// The schema version of the file before the migration.
    package let oldSchemaVersion: UInt64
    package let oldCoordinator: StoreCoordinator
    package private(set) var oldHandle: SnapshotHandle?
    package let newCoordinator: StoreCoordinator
    package private(set) var transaction: WriteTransaction?

    init(_ migration: TypeMigration, _ options: StoreOptions, _ meta: Catalog.Meta, _ types: [ObjectTypeSchema]) {
        self.migration = migration
        oldSchemaVersion = UInt64(bitPattern: meta.schemaVersion)
        let ids = Dictionary(
            migration.migratingTypes.map { ($0.type.name, $0.id) }, uniquingKeysWith: { first, _ in first })
        oldCoordinator = StoreCoordinator(
            migrating: options, types.compactMap { type in ids[migration.currentName(type.name)].map { ($0, type) } },
            meta.epoch)
        newCoordinator = StoreCoordinator(migrating: options, migration.migratingTypes, meta.epoch)
        oldHandle = oldCoordinator.makeHandle(migration.previous, meta)
        transaction = WriteTransaction(
            handle: newCoordinator.makeHandle(migration.connection, meta), coordinator: newCoordinator)
    }

    /// Stores the next keys of the tables in the file. Called after the migration block, and before the result of the
    /// migration is validated.
    func finishWriting() throws { try transaction?.finishWriting() }

    /// Removes the connections from the handles. Objects that the user's code still references then cannot use these
    /// connections.
    func end() {
        _ = oldHandle?.takeConnection()
        _ = transaction?.detach()
        oldHandle = nil
        transaction = nil
    }
}
