import MartletEngine
import MartletSQLite

extension Realm {
    /// A fault of the world around a Realm: the disk, a lock, the schema of a file, input.
    ///
    /// No committed data is lost by any of them, and the file opens again once the cause is gone. Mistakes of the program
    /// (a change outside a write, a deleted object) are not errors: they trap with a message.
    public struct Error: Swift.Error, Sendable, CustomStringConvertible {
        /// What kind of fault it is. More codes may be added: keep a `default` in a `switch`.
        public struct Code: RawRepresentable, Hashable, Sendable {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            /// So that `catch Realm.Error.fileNotFound` works.
            public static func ~= (pattern: Code, error: any Swift.Error) -> Bool {
                pattern == (error as? Realm.Error)?.code
            }
        }

        public let code: Code
        /// The path of the file; nil when no file is concerned.
        public let path: String?
        /// What happened and how to mend it.
        public let message: String

        init(_ code: Code, path: String? = nil, _ message: String) {
            self.code = code
            self.path = path
            self.message = message
        }

        /// What users are told of any failure of the layers below.
        static func told(_ error: any Swift.Error, path: String) -> any Swift.Error {
            error is EngineError || error is SQLiteError ? Realm.Error(EngineError.named(error, path: path)) : error
        }

        /// What is thrown to users: an error of their own code as it is.
        static func thrown(_ error: EngineError) -> any Swift.Error { error.cause ?? Realm.Error(error) }

        init(_ error: EngineError) { self.init(Code(error.code), path: error.path, error.message) }

        /// The code, the file and the message.
        public var description: String {
            path.map { "\(message) (\(code.rawValue), file '\($0)')" } ?? "\(message) (\(code.rawValue))"
        }
    }
}

/// The kinds of faults, to compare a code with and to catch.
extension Realm.Error {
    /// There is no such file, or no folder to make it in.
    public static let fileNotFound = Code(rawValue: "fileNotFound")
    /// The file or its folder may not be used so.
    public static let fileAccess = Code(rawValue: "fileAccess")
    /// The file is open in this process with another configuration.
    public static let incompatibleConfiguration = Code(rawValue: "incompatibleConfiguration")
    /// The file and the schema differ in what cannot change by itself.
    public static let schemaMismatch = Code(rawValue: "schemaMismatch")
    /// The file was written with a higher schema version.
    public static let schemaVersionNewer = Code(rawValue: "schemaVersionNewer")
    /// The file is of another program, or none that holds a database.
    public static let notADatabase = Code(rawValue: "notADatabase")
    /// The file is damaged: a page of it, or a stored value that does not fit the schema, which the message names.
    public static let fileCorrupted = Code(rawValue: "fileCorrupted")
    /// The file was written by another version of Martlet.
    public static let unsupportedFileFormat = Code(rawValue: "unsupportedFileFormat")
    /// The disk is full.
    public static let outOfDiskSpace = Code(rawValue: "outOfDiskSpace")
    /// Reading or writing failed.
    public static let inputOutput = Code(rawValue: "inputOutput")
    /// Another thread or process kept its write transaction open for too long.
    public static let busy = Code(rawValue: "busy")
    /// A predicate or value that cannot be used.
    public static let invalidInput = Code(rawValue: "invalidInput")
    /// More versions of the file are in use than the configuration allows.
    public static let tooManyVersions = Code(rawValue: "tooManyVersions")
    /// The disk did not confirm a commit: open the file again to learn whether it is there.
    public static let commitOutcomeUnknown = Code(rawValue: "commitOutcomeUnknown")
    /// A write leaves two objects with the same values of properties that must be unique.
    public static let uniqueViolation = Code(rawValue: "uniqueViolation")
    /// A write deletes what `onDelete: deny` or `deleteRule: deny` protects, and leaves the reason.
    public static let deletionDenied = Code(rawValue: "deletionDenied")
    /// There is a file already where a copy was to be written.
    public static let fileExists = Code(rawValue: "fileExists")
    /// The file was overwritten, or its log taken away, while it was open: release its Realms and open it again.
    public static let fileReplaced = Code(rawValue: "fileReplaced")
    /// Old versions that are in use keep the log from starting again, and it has the size that the configuration allows.
    public static let logFull = Code(rawValue: "logFull")
    /// The file is open in this process and cannot be migrated.
    public static let alreadyOpen = Code(rawValue: "alreadyOpen")
}

extension Realm.Error.Code {
    /// There is no such file, or no folder to make it in.
    public static let fileNotFound = Realm.Error.fileNotFound
    /// The file or its folder may not be used so.
    public static let fileAccess = Realm.Error.fileAccess
    /// The file is open in this process with another configuration.
    public static let incompatibleConfiguration = Realm.Error.incompatibleConfiguration
    /// The file and the schema differ in what cannot change by itself.
    public static let schemaMismatch = Realm.Error.schemaMismatch
    /// The file was written with a higher schema version.
    public static let schemaVersionNewer = Realm.Error.schemaVersionNewer
    /// The file is of another program, or none that holds a database.
    public static let notADatabase = Realm.Error.notADatabase
    /// The file is damaged: a page of it, or a stored value that does not fit the schema, which the message names.
    public static let fileCorrupted = Realm.Error.fileCorrupted
    /// The file was written by another version of Martlet.
    public static let unsupportedFileFormat = Realm.Error.unsupportedFileFormat
    /// The disk is full.
    public static let outOfDiskSpace = Realm.Error.outOfDiskSpace
    /// Reading or writing failed.
    public static let inputOutput = Realm.Error.inputOutput
    /// Another thread or process kept its write transaction open for too long.
    public static let busy = Realm.Error.busy
    /// A predicate or value that cannot be used.
    public static let invalidInput = Realm.Error.invalidInput
    /// More versions of the file are in use than the configuration allows.
    public static let tooManyVersions = Realm.Error.tooManyVersions
    /// The disk did not confirm a commit: open the file again to learn whether it is there.
    public static let commitOutcomeUnknown = Realm.Error.commitOutcomeUnknown
    /// A write leaves two objects with the same values of properties that must be unique.
    public static let uniqueViolation = Realm.Error.uniqueViolation
    /// A write deletes what `onDelete: deny` or `deleteRule: deny` protects, and leaves the reason.
    public static let deletionDenied = Realm.Error.deletionDenied
    /// There is a file already where a copy was to be written.
    public static let fileExists = Realm.Error.fileExists
    /// The file was overwritten, or its log taken away, while it was open: release its Realms and open it again.
    public static let fileReplaced = Realm.Error.fileReplaced
    /// Old versions that are in use keep the log from starting again, and it has the size that the configuration allows.
    public static let logFull = Realm.Error.logFull
    /// The file is open in this process and cannot be migrated.
    public static let alreadyOpen = Realm.Error.alreadyOpen

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
            }
    }
}

/// Runs engine work and throws its faults as the public error.
func translating<R>(_ body: () throws -> R) throws -> R {
    do {
        return try body()
    } catch let error as EngineError {
        throw Realm.Error.thrown(error)
    }
}
