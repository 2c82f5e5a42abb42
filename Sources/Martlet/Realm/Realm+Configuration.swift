public import Foundation
package import MartletEngine
import Synchronization

extension Realm {
    /// Which file a Realm opens, and how.
    public struct Configuration: Sendable {
        /// The file; nil for a Realm in memory. A URL of another kind, as `http:`, is refused when the file is opened.
        public var fileURL: URL? {
            didSet { if fileURL != nil { inMemoryIdentifier = nil } }
        }

        /// The name of a Realm in memory: it is shared by all who use the name in this process and gone with the last. No
        /// file of any kind is written.
        public var inMemoryIdentifier: String? {
            didSet { if inMemoryIdentifier != nil { fileURL = nil } }
        }

        /// The file is never changed. Writing and observing trap.
        ///
        /// A file that lacks types, properties or indexes of the program is shown as if it had them: empty, with defaults,
        /// and searched without.
        public var readOnly = false

        /// The version of the program's schema; a file with a higher one is refused.
        ///
        /// What only adds to a schema needs no new version. What can lose or invent values does: it is refused until this
        /// is higher than the file's.
        public var schemaVersion: UInt64 = 0

        /// Called once, when a file has a lower schema version, to give objects the values that do not follow by
        /// themselves. Not called for new files.
        public var migrationBlock: MigrationBlock?

        /// Deletes the file, data and all, instead of migrating it, and when it would be refused for what cannot change by
        /// itself. For development.
        public var deleteRealmIfMigrationNeeded = false

        /// The classes to use; nil for all that are linked into the program.
        public var objectTypes: [ObjectBase.Type]?

        /// The most versions of the file that may be in use at once; opening or writing beyond it throws.
        public var maximumNumberOfActiveVersions: UInt?

        /// The bytes of the log (`-wal`) above which a write waits, for two seconds at most, for old versions that are in use to
        /// end, so that the log can start again. If they do not end, the log sink names those who hold them, and the log grows.
        public var maximumLogBytes = 268_435_456

        /// Whether a write throws `.logFull` where waiting did not help, instead of letting the log grow above
        /// `maximumLogBytes`.
        public var throwsWhenLogIsFull = false

        /// A file to begin with: where the Realm's own file does not exist, it is made a copy of this one. Best made with
        /// `writeCopy(toFile:)`.
        public var seedFilePath: URL?

        /// Asked when the first Realm of this process opens the file, with the bytes of the file and those in use; true
        /// compacts it. Passed over while another process writes. Not asked for files that are only read.
        public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?

        /// The permissions of a file that is created, of which the umask is taken off. The files beside it have the same,
        /// and so have copies. Files that exist keep theirs. The owner can always read and write.
        public var fileMode: UInt16 = 0o600

        /// What a commit promises.
        public var durability = Durability.full

        /// What `write` promises when it returns.
        public enum Durability: Sendable {
            /// The data survives a power cut.
            case full
            /// The data survives a crash of the program; a power cut may take the newest commits, never a part of one.
            case normal
            /// For data that can be made again: a power cut may damage the file.
            case off
        }

        /// Whether what is read of objects and collections inside of `withObservationTracking`, and by SwiftUI, is announced
        /// when it changes. True where SwiftUI exists.
        ///
        /// While it is false, held objects are read at full speed, and a Realm begins to track by itself when it reads its
        /// file inside of `withObservationTracking`: what was read before, and is still held, is not seen until then. Set it to
        /// be sure of the first reads, too. Once a Realm tracks, it does so for as long as it is open.
        public var tracksReads = ReadTracking.isDefault

        package var environment = Environment.live
        package var scheduler: ManualScheduler?

        /// The file `default.realm` in `defaultFolder`, or what is given.
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

        // Guarded by the lock.
        nonisolated(unsafe) private static var standard: Configuration?
        private static let standardLock = NSLock()

        /// What `Realm()` uses.
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

        /// The classes by the names of their types, with all that they lead to.
        var models: [String: ModelClass] {
            let classes = objectTypes ?? ModelRegistry.classes
            return Dictionary(
                classes.map(ModelClass.of).map { ($0.schema.name, $0) }, uniquingKeysWith: { first, _ in first })
        }

        /// - Throws: `.invalidInput` for a URL of another kind, `.fileNotFound` without a folder for the default file.
        func requirePath() throws -> String {
            if let inMemoryIdentifier { return StoreFiles.memoryPath(identifier: inMemoryIdentifier) }
            return try Self.path(fileURL ?? Self.requireDefaultFileURL())
        }

        /// The path as messages name it.
        var path: String { (try? requirePath()) ?? fileURL?.absoluteString ?? Self.defaultName }

        func options() throws -> StoreOptions {
            let path = try requirePath()
            guard fileMode & 0o600 == 0o600, fileMode <= 0o777 else {
                throw Error(
                    .invalidInput, path: path,
                    "'fileMode' is 0o\(String(fileMode, radix: 8)); its owner must be able to read and write the file, as with 0o600"
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
            options.maximumNumberOfActiveVersions = maximumNumberOfActiveVersions.map { Int($0) }
            options.maximumLogBytes = maximumLogBytes
            options.throwsWhenLogIsFull = throwsWhenLogIsFull
            options.environment = environment
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
            return options
        }
    }
}
