public import Foundation
package import MartletEngine
import Synchronization

extension Realm {
    /// The file that a Realm opens, and the options for opening it.
    public struct Configuration: Sendable {
        /// The file; nil for a Realm in memory. Opening throws for a URL that is not a file URL, such as `http:`.
        public var fileURL: URL? {
            didSet { if fileURL != nil { inMemoryIdentifier = nil } }
        }

        /// The name of a Realm in memory. All Realms with this name in the process share their data. The data is
        /// deleted when the last of these Realms is released. No file is written.
        public var inMemoryIdentifier: String? {
            didSet { if inMemoryIdentifier != nil { fileURL = nil } }
        }

        /// True to open the file without ever changing it. Writing and observing trap.
        ///
        /// The file need not contain all types, properties and indexes of the program. A missing type is empty, a
        /// missing property has its default value, and queries work without a missing index. A file without a full-text
        /// index that the program declares cannot be opened.
        public var readOnly = false

        /// The version of the program's schema. Opening a file with a higher version throws.
        ///
        /// Additions to a schema need no new version. A change needs a new version if it can lose values, or if it
        /// needs values that the file does not contain. After a change of this kind, opening throws if `schemaVersion`
        /// is not higher than the version of the file.
        public var schemaVersion: UInt64 = 0

        /// Called once if the file has a lower schema version, to set values that cannot be derived automatically. Not
        /// called for new files.
        public var migrationBlock: MigrationBlock?

        /// True to delete the file with all its data if the file needs a migration or its schema cannot be changed
        /// automatically. The new file begins as a copy of `seedFilePath`. The new file is empty if there is no seed,
        /// or if the seed needs a migration, too. Intended for development.
        public var deleteRealmIfMigrationNeeded = false

        /// The classes to use; nil for all classes that are linked into the program.
        public var objectTypes: [ObjectBase.Type]?

        /// The maximum number of versions of the file that may be in use at the same time. Opening or writing throws if
        /// it would exceed the maximum.
        public var maximumNumberOfActiveVersions: UInt?

        /// The size of the write-ahead log (`-wal`) in bytes above which a write waits.
        ///
        /// The write waits at most two seconds until old versions are released, and then restarts the log. If the old
        /// versions are still in use, a message on standard error names their holders, and the log grows. A later write
        /// waits again only after the log has grown by a quarter of this size.
        public var maximumLogBytes = 268_435_456

        /// True if a write throws `.logFull` when the wait described at `maximumLogBytes` was unsuccessful; false if
        /// the log grows.
        ///
        /// Later writes throw `.logFull` without waiting, until the log can restart. There is one exception: if the
        /// Realm shows an older version that nothing else uses, its write does not throw, because the write releases
        /// this version.
        public var throwsWhenLogIsFull = false

        /// The file that is copied if the Realm's own file does not exist. Create it with `writeCopy(toFile:)`.
        public var seedFilePath: URL?

        /// Called when the first Realm of this process opens the file, with the size of the file and the size of its
        /// contents in bytes. If the closure returns true, the file is compacted. If another process is writing, the
        /// file is not compacted. Not called for read-only files.
        public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?

        /// The permissions of a new file, before the umask is applied. Auxiliary files and copies get the same
        /// permissions. Existing files keep their permissions. The owner must be able to read and write.
        public var fileMode: UInt16 = 0o600

        /// What happens to committed data after a crash or a power failure.
        public var durability = Durability.full

        /// The guarantee for the data of a write when `write` returns.
        public enum Durability: Sendable {
            /// The data survives a power failure.
            case full
            /// The data survives a crash of the program. A power failure may lose the newest commits, but it never
            /// loses only a part of a commit.
            case normal
            /// For data that can be recreated: a power failure may damage the file.
            case off
        }

        /// True if the Realm tracks reads from the beginning.
        ///
        /// Reads are tracked inside `withObservationTracking` and in SwiftUI views: the Observation framework is
        /// notified when a value that was read there changes. The default is true where SwiftUI exists.
        ///
        /// If this property is false, reads of objects in memory are faster, because they are not checked for tracking.
        /// The Realm starts to track reads when it first reads its file inside `withObservationTracking`. Until then,
        /// reads of objects that are already in memory are not tracked. A Realm that has started to track reads
        /// continues until it is closed.
        public var tracksReads = ReadTracking.isDefault

        /// The synchronization of the file; nil for a local file. `MartletSync` sets it.
        package var synchronization: (any RealmSynchronization)?
        package var environment = Environment.live
        /// When the columns of the file are kept in memory. Tests change this value.
        package var columns = ColumnOptions()
        package var scheduler: ManualScheduler?

        /// Creates a configuration. The default file is `default.realm` in `defaultFolder`.
        public init(
            fileURL: URL? = Configuration.defaultFileURL, inMemoryIdentifier: String? = nil,
            readOnly: Bool = false,
            schemaVersion: UInt64 = 0, migrationBlock: MigrationBlock? = nil,
            deleteRealmIfMigrationNeeded: Bool = false,
            shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)? = nil,
            objectTypes: [ObjectBase.Type]? = nil, seedFilePath: URL? = nil
        ) {
            self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
            self.inMemoryIdentifier = inMemoryIdentifier
            self.readOnly = readOnly
            self.schemaVersion = schemaVersion
            self.migrationBlock = migrationBlock
            self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
            self.shouldCompactOnLaunch = shouldCompactOnLaunch
            self.objectTypes = objectTypes
            self.seedFilePath = seedFilePath
        }

        // Guarded by `standardLock`.
        nonisolated(unsafe) private static var standard: Configuration?
        private static let standardLock = NSLock()

        /// The configuration that `Realm()` uses.
        public static var defaultConfiguration: Configuration {
            get {
                standardLock.lock()
                defer { standardLock.unlock() }
                return standard ?? Configuration()
            }
            set {
                standardLock.lock()
                defer { standardLock.unlock() }
                standard = newValue
            }
        }

        /// The models of the classes, by type name.
        var models: [String: ModelClass] {
            let classes = objectTypes ?? ModelRegistry.classes
            return Dictionary(
                classes.map(ModelClass.of).map { ($0.schema.name, $0) }, uniquingKeysWith: { first, _ in first })
        }

        /// The path of the file, or the name of the Realm in memory.
        ///
        /// - Throws: `.invalidInput` for a URL that is not a file URL, `.fileNotFound` if there is no folder for the
        /// default file.
        func requirePath() throws -> String {
            if let inMemoryIdentifier { return StoreFiles.memoryPath(identifier: inMemoryIdentifier) }
            return try Self.path(fileURL ?? Self.requireDefaultFileURL())
        }

        /// The path of the file, for use in messages.
        var path: String { (try? requirePath()) ?? fileURL?.absoluteString ?? Self.defaultName }

        func options() throws -> StoreOptions {
            let path = try requirePath()
            guard fileMode & 0o600 == 0o600, fileMode <= 0o777 else {
                throw Error(
                    .invalidInput, path: path,
                    "'fileMode' is 0o\(String(fileMode, radix: 8)); the owner of the file must be able to read and write it, as with 0o600"
                )
            }
            let models = models
            for model in models.values {
                for property in model.schema.properties {
                    guard let target = property.element.target, models[target] == nil else { continue }
                    throw Error(
                        .invalidInput, path: path,
                        "'\(model.schema.name).\(property.name)' leads to '\(target)', which is not in 'objectTypes'; add it"
                    )
                }
            }
            var options = StoreOptions(
                path: path, types: models.values.sorted { $0.schema.name < $1.schema.name }.map(\.declaration))
            options.isReadOnly = readOnly
            options.isTemporary = inMemoryIdentifier != nil
            options.schemaVersion = schemaVersion
            options.mayMigrate = !deleteRealmIfMigrationNeeded
            options.replacesFile = deleteRealmIfMigrationNeeded && !readOnly
            if let migrationBlock, !deleteRealmIfMigrationNeeded {
                options.migration = Migration.body(migrationBlock, self)
            }
            options.maximumNumberOfActiveVersions = maximumNumberOfActiveVersions.map { Int(clamping: $0) }
            options.maximumLogBytes = maximumLogBytes
            options.throwsWhenLogIsFull = throwsWhenLogIsFull
            options.environment = environment
            options.columns = columns
            options.environment.stopForkedChild = { Misuse.forkedChild($0) }
            options.seedPath = try seedFilePath.map(Self.path)
            options.fileMode = UInt32(fileMode)
            options.compactsAtLaunch = shouldCompactOnLaunch
            options.durability =
                switch durability {
                case _ where inMemoryIdentifier != nil: .off
                case .full: .full
                case .normal: .normal
                case .off: .off
                }
            try translating { try synchronization?.prepare(&options) }
            return options
        }
    }
}
