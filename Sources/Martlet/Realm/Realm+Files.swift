public import Foundation
import MartletEngine

extension Realm {
    /// True when the file of a configuration exists.
    public static func fileExists(for configuration: Configuration) -> Bool { StoreFiles.exists(configuration.path) }

    /// Deletes the file of a configuration and those beside it; false when there was none.
    ///
    /// - Throws: `Realm.Error` when a Realm of this process has the file open, or another process writes for too long.
    @discardableResult
    public static func deleteFiles(for configuration: Configuration) throws -> Bool {
        var options = StoreOptions(path: try configuration.requirePath(), types: [])
        options.environment = configuration.environment
        return try translating { try StoreRegistry.remove(options) }
    }

    /// The logs that were found beside the file of a configuration although they do not continue it, as after a backup was
    /// copied over the file: each was set aside under the name given here, and was not read. Oldest first.
    public static func logsSetAside(for configuration: Configuration) -> [URL] {
        SetAsideLogs.all(of: configuration.path).map { URL(fileURLWithPath: $0) }
    }

    /// Opens the file of a configuration, migrates it if its schema version is lower, and closes it again.
    ///
    /// - Throws: as `init(configuration:)`, and what the `migrationBlock` throws.
    public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws {
        _ = try coordinator(configuration)
    }

    /// Writes a compact copy of the newest committed state to a file that does not exist yet. The copy is whole or absent,
    /// whatever happens meanwhile, and opens as a Realm of its own.
    ///
    /// Traps inside a write transaction: what is not committed belongs to no state.
    ///
    /// - Throws: `Realm.Error`: `.fileExists` when there is a file, `.fileNotFound` when its folder is missing,
    ///   `.outOfDiskSpace`.
    public func writeCopy(toFile fileURL: URL) throws {
        context.confinement.require("a Realm")
        if context.isInWrite { Misuse.copyInsideWrite() }
        context.asyncWrites?.settle()
        let path = try Configuration.path(fileURL)
        try translating { try context.coordinator.writeCopy(to: path) }
    }

    /// Writes a compact copy to the file of another configuration and migrates it to that configuration's schema.
    ///
    /// - Throws: as `writeCopy(toFile:)` and `init(configuration:)`.
    public func writeCopy(configuration: Configuration) throws {
        guard configuration.inMemoryIdentifier == nil else {
            throw Error(
                .invalidInput, path: configuration.path,
                "a Realm in memory begins empty; give its configuration a 'seedFilePath' instead")
        }
        try writeCopy(toFile: URL(fileURLWithPath: configuration.requirePath()))
        try Realm.performMigration(for: configuration)
    }

    /// Writes the file of a configuration anew without gaps, which gives space back. Safe at any moment: a program that is
    /// killed meanwhile leaves the file as it was. Other processes may have it open.
    ///
    /// - Throws: `Realm.Error` when a Realm of this process has the file open, when another process writes for too long, or
    ///   when the disk has no room for a second copy.
    public static func compact(configuration: Configuration = .defaultConfiguration) throws {
        let options = try configuration.options()
        if !StoreFiles.exists(options.path) {
            throw Error(.fileNotFound, path: options.path, "there is no file to compact")
        }
        try translating { try StoreRegistry.compact(options) }
    }
}

/// The schema version of a file, which is not changed and may be open.
///
/// - Throws: `Realm.Error` when there is no such file or it is not one of Martlet.
public func schemaVersionAtURL(_ fileURL: URL) throws -> UInt64 {
    let path = try Realm.Configuration.path(fileURL)
    return try translating { try StoreRegistry.schemaVersion(StoreOptions(path: path, types: [])) }
}
