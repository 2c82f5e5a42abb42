import MartletSQLite

/// The options with which a Realm opens its file.
package struct StoreOptions: Sendable {
    package enum Durability: Sendable { case full, normal, off }

    package var path: String
    package var types: [TypeDeclaration]
    package var isReadOnly = false
    /// The mode of a new file, before the umask is applied.
    package var fileMode: UInt32 = 0o600
    /// True if the file is deleted together with its last Realm.
    package var isTemporary = false
    package var schemaVersion: UInt64 = 0
    /// False if a file whose types require a migration is rejected, whatever its version.
    package var mayMigrate = true
    /// True if a file that is rejected for its types is deleted and created again, unless this process has it open.
    package var replacesFile = false
    /// Called before the file is opened and before it is migrated. Returns true if the caller no longer needs the file.
    package var isCancelled: (@Sendable () -> Bool)?
    /// The user's part of a migration to a higher schema version.
    package var migration: (@Sendable (MigrationContext) throws -> Void)?
    /// True to use the types of the file as they are, without declared types.
    package var leavesSchema = false
    /// The file that is copied if there is no file at `path`.
    package var seedPath: String?
    /// Called when the file is opened. Returns true to compact it.
    package var compactsAtLaunch: StoreCoordinator.CompactionCondition?
    package var durability = Durability.full
    package var maximumNumberOfActiveVersions: Int?
    /// If the log has more bytes than this, writers wait for old snapshots to end, so that the log can restart.
    package var maximumLogBytes = 268_435_456
    /// True if a write throws when the log is still too long after that wait. Otherwise the log grows.
    package var throwsWhenLogIsFull = false
    package var environment = Environment.live

    package init(path: String, types: [TypeDeclaration]) {
        self.path = path
        self.types = types
    }

    /// True if the database file names its log. A file in memory does not: its log cannot outlive it.
    var marksLog: Bool { !isTemporary }
    /// - Throws: `CancellationError`, as the cause of an engine error.
    func checkCancellation() throws(EngineError) {
        guard isCancelled?() == true else { return }
        throw EngineError(.stopped, path: path, "opening was cancelled", cause: CancellationError())
    }

    var connection: ConnectionOptions {
        var options = ConnectionOptions(path: path)
        options.isReadOnly = isReadOnly
        options.vfsName = environment.vfsName
        options.marksLog = marksLog
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
