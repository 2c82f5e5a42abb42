public import Foundation
import MartletEngine

extension Realm {
    /// True if the file of a configuration exists.
    public static func fileExists(for configuration: Configuration) -> Bool { StoreFiles.exists(configuration.path) }

    /// Deletes the file of a configuration and its auxiliary files. Returns false if there was no file.
    ///
    /// - Throws: `Realm.Error` if a Realm of this process has the file open, if a file cannot be deleted, or if another
    ///   process holds the write lock for longer than 30 seconds.
    @discardableResult
    public static func deleteFiles(for configuration: Configuration) throws -> Bool {
        var options = StoreOptions(path: try configuration.requirePath(), types: [])
        options.environment = configuration.environment
        return try translating { try StoreRegistry.remove(options) }
    }

    /// The write-ahead logs that the runtime has set aside because they did not belong to the file of a configuration,
    /// oldest first.
    ///
    /// For example, a log does not belong to the file after a backup was copied over the file. The runtime does not
    /// read such a log, and renames it. This function returns the new names.
    public static func logsSetAside(for configuration: Configuration) -> [URL] {
        SetAsideLogs.all(of: configuration.path).map { URL(fileURLWithPath: $0) }
    }

    /// Opens the file of a configuration, migrates it if its schema version is lower than `schemaVersion`, and closes
    /// it again.
    ///
    /// - Throws: The errors of `init(configuration:)` and of the `migrationBlock`.
    public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws {
        _ = try coordinator(configuration)
    }

    /// Writes a compact copy of the newest committed state to a new file, which can be opened as a Realm.
    ///
    /// If the process or the system stops during this call, there is either a complete copy or no file. Traps inside a
    /// write transaction, because the copy would not contain the changes of the transaction.
    ///
    /// - Throws: `Realm.Error`: `.fileExists` if the file exists, `.fileNotFound` if its folder does not exist,
    ///   `.outOfDiskSpace` if the disk is full.
    public func writeCopy(toFile fileURL: URL) throws {
        context.confinement.require("a Realm")
        if context.isInWrite { Misuse.copyInsideWrite() }
        context.asyncWrites?.commitSealedWrites()
        let path = try Configuration.path(fileURL)
        try translating { try context.coordinator.writeCopy(to: path) }
    }

    /// Writes a compact copy to the file of another configuration and migrates it to that configuration's schema.
    ///
    /// - Throws: The errors of `writeCopy(toFile:)` and `init(configuration:)`.
    public func writeCopy(configuration: Configuration) throws {
        guard configuration.inMemoryIdentifier == nil else {
            throw Error(
                .invalidInput, path: configuration.path,
                "a Realm in memory begins empty; give its configuration a 'seedFilePath' instead")
        }
        try writeCopy(toFile: URL(fileURLWithPath: configuration.requirePath()))
        try Realm.performMigration(for: configuration)
    }

    /// Rewrites the file of a configuration without unused space.
    ///
    /// If the program is killed during this call, the file is either unchanged or completely rewritten, and no data is
    /// lost. Other processes may have the file open.
    ///
    /// - Throws: `Realm.Error` if a Realm of this process has the file open, if another process holds the write lock
    ///   for longer than 30 seconds, or if the disk does not have enough space for a second copy.
    public static func compact(configuration: Configuration = .defaultConfiguration) throws {
        let options = try configuration.options()
        if !StoreFiles.exists(options.path) {
            throw Error(.fileNotFound, path: options.path, "there is no file to compact")
        }
        try translating { try StoreRegistry.compact(options) }
    }
}

/// Reads the schema version of a file. The file is not changed, and may be open.
///
/// - Throws: `Realm.Error` if the file does not exist or is not a Martlet file.
public func schemaVersionAtURL(_ fileURL: URL) throws -> UInt64 {
    let path = try Realm.Configuration.path(fileURL)
    return try translating { try StoreRegistry.schemaVersion(StoreOptions(path: path, types: [])) }
}
