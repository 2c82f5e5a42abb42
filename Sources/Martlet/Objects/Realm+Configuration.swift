public import Foundation
package import MartletEngine
import Synchronization

extension Realm {
    /// Which file a Realm opens, and how.
    public struct Configuration: Sendable {
        /// The file; nil for a Realm in memory.
        public var fileURL: URL? {
            didSet { if fileURL != nil { inMemoryIdentifier = nil } }
        }

        /// The name of a Realm in memory: it is shared by all who use the name in this process and gone with the last.
        public var inMemoryIdentifier: String? {
            didSet { if inMemoryIdentifier != nil { fileURL = nil } }
        }

        /// The file is never changed. Writing and observing trap.
        public var readOnly = false

        /// The version of the program's schema; a file with a higher one is refused.
        public var schemaVersion: UInt64 = 0

        /// Deletes the file, data and all, when its schema differs in what cannot change by itself. For development.
        public var deleteRealmIfMigrationNeeded = false

        /// The classes to use; nil for all that are linked into the program.
        public var objectTypes: [ObjectBase.Type]?

        /// The most versions of the file that may be in use at once; opening or writing beyond it throws.
        public var maximumNumberOfActiveVersions: UInt?

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

        package var environment = Environment.live
        package var scheduler: ManualScheduler?

        /// A file named `default.realm` in the current folder, or what is given.
        public init(
            fileURL: URL? = URL(fileURLWithPath: "default.realm"), inMemoryIdentifier: String? = nil,
            readOnly: Bool = false,
            schemaVersion: UInt64 = 0, deleteRealmIfMigrationNeeded: Bool = false, objectTypes: [ObjectBase.Type]? = nil
        ) {
            self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
            self.inMemoryIdentifier = inMemoryIdentifier
            self.readOnly = readOnly
            self.schemaVersion = schemaVersion
            self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
            self.objectTypes = objectTypes
        }

        // Guarded by the lock.
        nonisolated(unsafe) private static var standard = Configuration()
        private static let standardLock = NSLock()

        /// What `Realm()` uses.
        public static var defaultConfiguration: Configuration {
            get {
                standardLock.lock()
                defer { standardLock.unlock() }
                return standard
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

        var path: String {
            if let inMemoryIdentifier { return StoreFiles.temporaryPath(identifier: inMemoryIdentifier) }
            return fileURL?.standardizedFileURL.path ?? "default.realm"
        }

        func options() throws -> StoreOptions {
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
            options.maximumNumberOfActiveVersions = maximumNumberOfActiveVersions.map { Int($0) }
            options.environment = environment
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
