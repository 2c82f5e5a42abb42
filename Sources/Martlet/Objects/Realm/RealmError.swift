import MartletEngine
import MartletValues

extension Realm {
    /// An error whose cause is outside of the program, such as the disk, a lock, the schema of a file, or input.
    ///
    /// No error loses committed data. The file can be opened again when the cause is removed. Programming errors, such
    /// as a change outside a write or the use of a deleted object, are not thrown. They trap with a message.
    public struct Error: Swift.Error, Sendable, CustomStringConvertible {
        /// The kind of an error. New versions of Martlet may add codes, so a `switch` needs a `default`.
        public struct Code: RawRepresentable, Hashable, Sendable {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            /// Matches an error by its code, as in `catch Realm.Error.fileNotFound`.
            public static func ~= (pattern: Code, error: any Swift.Error) -> Bool {
                pattern == (error as? Realm.Error)?.code
            }
        }

        public let code: Code
        /// The path of the file to which the error belongs; nil if the error belongs to no file.
        public let path: String?
        /// What happened, and how to fix it.
        public let message: String

        init(_ code: Code, path: String? = nil, _ message: String) {
            self.code = code
            self.path = path
            self.message = message
        }

        /// Converts an error of the lower layers to a `Realm.Error`. Returns any other error unchanged.
        static func translated(_ error: any Swift.Error, path: String) -> any Swift.Error {
            EngineError.describes(error) ? Realm.Error(EngineError.wrap(error, path: path)) : error
        }

        /// The error that the API throws to the program. If a closure of the program has thrown the error, it is thrown
        /// unchanged.
        static func thrown(_ error: EngineError) -> any Swift.Error { error.cause ?? Realm.Error(error) }

        init(_ error: EngineError) { self.init(Code(error.code), path: error.path, error.message) }

        /// The code, the file and the message.
        public var description: String {
            path.map { "\(message) (\(code.rawValue), file '\($0)')" } ?? "\(message) (\(code.rawValue))"
        }
    }
}

/// The error codes, for comparison and for `catch`.
extension Realm.Error {
    /// The file does not exist, or the folder in which to create it does not exist.
    public static let fileNotFound = Code(rawValue: "fileNotFound")
    /// The permissions of the file or its folder do not allow the access.
    public static let fileAccess = Code(rawValue: "fileAccess")
    /// The file is open in this process with another configuration.
    public static let incompatibleConfiguration = Code(rawValue: "incompatibleConfiguration")
    /// The schemas of the file and of the program differ in a way that requires a migration.
    public static let schemaMismatch = Code(rawValue: "schemaMismatch")
    /// The file was written with a higher schema version.
    public static let schemaVersionNewer = Code(rawValue: "schemaVersionNewer")
    /// The file is not a database, or was created by another program.
    public static let notADatabase = Code(rawValue: "notADatabase")
    /// A page of the file is damaged, or a stored value does not fit the schema. The message names the place.
    public static let fileCorrupted = Code(rawValue: "fileCorrupted")
    /// The file has a format that this version of Martlet does not support.
    public static let unsupportedFileFormat = Code(rawValue: "unsupportedFileFormat")
    /// The disk is full.
    public static let outOfDiskSpace = Code(rawValue: "outOfDiskSpace")
    /// The system could not read or write the file.
    public static let inputOutput = Code(rawValue: "inputOutput")
    /// Another thread or process kept its write transaction open longer than the timeout.
    public static let busy = Code(rawValue: "busy")
    /// A predicate, value or setting is invalid.
    public static let invalidInput = Code(rawValue: "invalidInput")
    /// More versions of the file are in use than the configuration allows.
    public static let tooManyVersions = Code(rawValue: "tooManyVersions")
    /// The disk did not confirm a commit. Open the file again to find out whether it contains the changes.
    public static let commitOutcomeUnknown = Code(rawValue: "commitOutcomeUnknown")
    /// At the end of a write, two objects have equal values of properties that must be unique.
    public static let uniqueViolation = Code(rawValue: "uniqueViolation")
    /// A write deletes an object although `onDelete: deny` or `deleteRule: deny` forbids it.
    public static let deletionDenied = Code(rawValue: "deletionDenied")
    /// The destination of a copy exists already.
    public static let fileExists = Code(rawValue: "fileExists")
    /// The file was overwritten, or its log was removed, while it was open. Release its Realms and open it again.
    public static let fileReplaced = Code(rawValue: "fileReplaced")
    /// The log has its maximum size, and old versions that are in use prevent it from being reset.
    public static let logFull = Code(rawValue: "logFull")
    /// The file is already open in this process, so it cannot be migrated.
    public static let alreadyOpen = Code(rawValue: "alreadyOpen")
    /// The file contains the synchronized data of another user.
    public static let wrongUser = Code(rawValue: "wrongUser")
    /// A query cannot be subscribed to, or the service has refused the subscription.
    public static let subscriptionRefused = Code(rawValue: "subscriptionRefused")
    /// The timeout of a wait for the sync service has passed.
    public static let syncTimedOut = Code(rawValue: "syncTimedOut")
}

extension Realm.Error.Code {
    /// The file does not exist, or the folder in which to create it does not exist.
    public static let fileNotFound = Realm.Error.fileNotFound
    /// The permissions of the file or its folder do not allow the access.
    public static let fileAccess = Realm.Error.fileAccess
    /// The file is open in this process with another configuration.
    public static let incompatibleConfiguration = Realm.Error.incompatibleConfiguration
    /// The schemas of the file and of the program differ in a way that requires a migration.
    public static let schemaMismatch = Realm.Error.schemaMismatch
    /// The file was written with a higher schema version.
    public static let schemaVersionNewer = Realm.Error.schemaVersionNewer
    /// The file is not a database, or was created by another program.
    public static let notADatabase = Realm.Error.notADatabase
    /// A page of the file is damaged, or a stored value does not fit the schema. The message names the place.
    public static let fileCorrupted = Realm.Error.fileCorrupted
    /// The file has a format that this version of Martlet does not support.
    public static let unsupportedFileFormat = Realm.Error.unsupportedFileFormat
    /// The disk is full.
    public static let outOfDiskSpace = Realm.Error.outOfDiskSpace
    /// The system could not read or write the file.
    public static let inputOutput = Realm.Error.inputOutput
    /// Another thread or process kept its write transaction open longer than the timeout.
    public static let busy = Realm.Error.busy
    /// A predicate, value or setting is invalid.
    public static let invalidInput = Realm.Error.invalidInput
    /// More versions of the file are in use than the configuration allows.
    public static let tooManyVersions = Realm.Error.tooManyVersions
    /// The disk did not confirm a commit. Open the file again to find out whether it contains the changes.
    public static let commitOutcomeUnknown = Realm.Error.commitOutcomeUnknown
    /// At the end of a write, two objects have equal values of properties that must be unique.
    public static let uniqueViolation = Realm.Error.uniqueViolation
    /// A write deletes an object although `onDelete: deny` or `deleteRule: deny` forbids it.
    public static let deletionDenied = Realm.Error.deletionDenied
    /// The destination of a copy exists already.
    public static let fileExists = Realm.Error.fileExists
    /// The file was overwritten, or its log was removed, while it was open. Release its Realms and open it again.
    public static let fileReplaced = Realm.Error.fileReplaced
    /// The log has its maximum size, and old versions that are in use prevent it from being reset.
    public static let logFull = Realm.Error.logFull
    /// The file is already open in this process, so it cannot be migrated.
    public static let alreadyOpen = Realm.Error.alreadyOpen
    /// The file contains the synchronized data of another user.
    public static let wrongUser = Realm.Error.wrongUser
    /// A query cannot be subscribed to, or the service has refused the subscription.
    public static let subscriptionRefused = Realm.Error.subscriptionRefused
    /// The timeout of a wait for the sync service has passed.
    public static let syncTimedOut = Realm.Error.syncTimedOut

    init(_ code: EngineError.Code) {
        self =
            switch code {
            case .fileNotFound: .fileNotFound
            case .accessDenied: .fileAccess
            case .incompatibleConfiguration: .incompatibleConfiguration
            case .schemaMismatch, .stopped: .schemaMismatch
            case .schemaVersionNewer: .schemaVersionNewer
            case .notADatabase: .notADatabase
            case .corrupt: .fileCorrupted
            case .unsupportedFormat: .unsupportedFileFormat
            case .outOfDiskSpace: .outOfDiskSpace
            case .inputOutput: .inputOutput
            case .busy: .busy
            case .invalidInput: .invalidInput
            case .tooManyVersions: .tooManyVersions
            case .commitOutcomeUnknown: .commitOutcomeUnknown
            case .uniqueViolation: .uniqueViolation
            case .deletionDenied: .deletionDenied
            case .fileExists: .fileExists
            case .fileReplaced: .fileReplaced
            case .logFull: .logFull
            case .alreadyOpen: .alreadyOpen
            case .wrongUser: .wrongUser
            }
    }
}

/// Runs `body` and converts errors of the engine to `Realm.Error`.
func translating<R>(_ body: () throws -> R) throws -> R {
    do {
        return try body()
    } catch let error as EngineError {
        throw Realm.Error.thrown(error)
    }
}
