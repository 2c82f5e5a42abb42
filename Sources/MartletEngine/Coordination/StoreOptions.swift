import MartletSQLite

/// What a Realm asks of the file it opens.
package struct StoreOptions: Sendable {
    package enum Durability: Sendable { case full, normal, off }

    package var path: String
    package var types: [TypeDeclaration]
    package var isReadOnly = false
    /// The mode of a file that is created, of which the umask is taken off.
    package var fileMode: UInt32 = 0o600
    /// The file is deleted with its last Realm.
    package var isTemporary = false
    package var schemaVersion: UInt64 = 0
    /// False: a file that differs in what cannot change by itself is refused, whatever its version.
    package var mayMigrate = true
    /// A file that is refused for its types is deleted and made anew, unless this process has it open.
    package var replacesFile = false
    /// Asked before the file is opened and before it is migrated: whether the caller has lost interest.
    package var isCancelled: (@Sendable () -> Bool)?
    /// The user's part of a migration to a higher schema version.
    package var migration: (@Sendable (MigrationSides) throws -> Void)?
    /// The types of the file are taken as they are, and none is declared.
    package var leavesSchema = false
    /// The file that a missing one is made a copy of.
    package var seedPath: String?
    /// Asked when the file is opened, whether it is to be compacted.
    package var compactsAtLaunch: StoreCoordinator.CompactionCondition?
    package var durability = Durability.full
    package var maximumNumberOfActiveVersions: Int?
    /// Bytes of the log above which writers wait for old snapshots to end, so that it can start again.
    package var maximumLogBytes = 268_435_456
    /// Writers are refused where waiting did not help, rather than the log growing on.
    package var throwsWhenLogIsFull = false
    package var environment = Environment.live

    package init(path: String, types: [TypeDeclaration]) {
        self.path = path
        self.types = types
    }

    /// What is in memory has no log that could outlive it.
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
