import MartletSQLite

/// The options with which a Realm opens its file.
package struct StoreOptions: Sendable {
    package enum Durability: Sendable { case full, normal, off }

    package var path: String
    package var types: [TypeDeclaration]
    package var isReadOnly = false
    /// The mode of a new file, before the umask is applied.
    package var fileMode: UInt32 = 0o600
    /// True if the file is deleted when its last Realm and objects are released.
    package var isTemporary = false
    package var schemaVersion: UInt64 = 0
    /// False to reject a file whose types require a migration, even if `schemaVersion` is higher than the schema
    /// version of the file.
    package var mayMigrate = true
    /// True to delete a file that is rejected because of its types, and to create the file again. If this process has
    /// the file open, opening throws, and the file is not deleted.
    package var replacesFile = false
    /// Called before the file is opened and before it is migrated. Returns true if the caller no longer needs the file.
    package var isCancelled: (@Sendable () -> Bool)?
    /// The user's code for a migration to a higher schema version.
    package var migration: (@Sendable (MigrationContext) throws -> Void)?
    /// True to use the types of the file as they are, without declared types.
    package var usesStoredSchema = false
    /// The file that is copied if there is no file at `path`.
    package var seedPath: String?
    /// Called when the first Realm of this process opens the file. Returns true to compact the file.
    package var compactsAtLaunch: StoreCoordinator.CompactionCondition?
    package var durability = Durability.full
    package var maximumNumberOfActiveVersions: Int?
    /// If the log has more bytes than this value, writers wait for old snapshots to end, so that the log can restart.
    package var maximumLogBytes = 268_435_456
    /// True to reject a write if the log is longer than `maximumLogBytes` and cannot restart. If false, the write is
    /// executed, and the log grows.
    package var throwsWhenLogIsFull = false
    package var environment = Environment.live
    package var columns = ColumnOptions()
    /// Makes the file synchronized. Nil for a file without synchronization.
    package var sync: SyncOptions?

    package init(path: String, types: [TypeDeclaration]) {
        self.path = path
        self.types = types
    }

    /// True if the name of the log is written to the database file. This is not necessary for a temporary file, because
    /// the log is deleted together with the file.
    var recordsLogName: Bool { !isTemporary }

    /// Throws an engine error with the cause `CancellationError` if the caller no longer needs the file.
    func checkCancellation() throws(EngineError) {
        guard isCancelled?() == true else { return }
        throw EngineError(.stopped, path: path, "opening was cancelled", cause: CancellationError())
    }

    var connection: ConnectionOptions {
        var options = ConnectionOptions(path: path)
        options.isReadOnly = isReadOnly
        options.vfsName = environment.vfsName
        options.recordsLogName = recordsLogName
        options.busyTimeoutMilliseconds = environment.writeTimeoutMilliseconds
        options.synchronous =
            switch durability {
            case .full: "FULL"
            case .normal: "NORMAL"
            case .off: "OFF"
            }
        return options
    }
}
