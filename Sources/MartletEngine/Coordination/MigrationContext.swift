import MartletSQLite

/// The context of a migration: the version before the migration, which is read-only, and the new one, which is written
/// in the transaction of the migration. Valid until `end`.
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
        let ids = Dictionary(migration.staged.map { ($0.type.name, $0.id) }, uniquingKeysWith: { first, _ in first })
        oldCoordinator = StoreCoordinator(
            side: options, types.compactMap { type in ids[migration.currentName(type.name)].map { ($0, type) } },
            meta.epoch)
        newCoordinator = StoreCoordinator(side: options, migration.staged, meta.epoch)
        oldHandle = oldCoordinator.makeHandle(migration.previous, meta)
        transaction = WriteTransaction(
            handle: newCoordinator.makeHandle(migration.connection, meta), coordinator: newCoordinator)
    }

    /// Writes everything that is still pending, before the result is validated.
    func finishWriting() throws { try transaction?.finishWriting() }

    /// Takes the connections out of the handles, so that objects which user code still holds can no longer use them.
    func end() {
        _ = oldHandle?.takeConnection()
        _ = transaction?.detach()
        oldHandle = nil
        transaction = nil
    }
}
