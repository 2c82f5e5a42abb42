import MartletEngine

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

            public static let fileNotFound = Code(rawValue: "fileNotFound")
            public static let fileAccess = Code(rawValue: "fileAccess")
            /// The file is open in this process with another configuration.
            public static let incompatibleConfiguration = Code(rawValue: "incompatibleConfiguration")
            /// The file and the schema differ in what cannot change by itself.
            public static let schemaMismatch = Code(rawValue: "schemaMismatch")
            /// The file was written with a higher schema version.
            public static let schemaVersionNewer = Code(rawValue: "schemaVersionNewer")
            public static let notADatabase = Code(rawValue: "notADatabase")
            public static let corrupt = Code(rawValue: "corrupt")
            public static let unsupportedFileFormat = Code(rawValue: "unsupportedFileFormat")
            public static let outOfDiskSpace = Code(rawValue: "outOfDiskSpace")
            public static let inputOutput = Code(rawValue: "inputOutput")
            /// Another thread or process kept its write transaction open for too long.
            public static let busy = Code(rawValue: "busy")
            public static let invalidInput = Code(rawValue: "invalidInput")
            public static let tooManyVersions = Code(rawValue: "tooManyVersions")
            /// The disk did not confirm a commit: open the file again to learn whether it is there.
            public static let commitOutcomeUnknown = Code(rawValue: "commitOutcomeUnknown")
            public static let uniqueViolation = Code(rawValue: "uniqueViolation")
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

        init(_ error: EngineError) { self.init(Code(error.code), path: error.path, error.message) }

        /// The code, the file and the message.
        public var description: String { path.map { "\(message) (\(code.rawValue), file '\($0)')" } ?? "\(message) (\(code.rawValue))" }

        /// So that `catch Realm.Error.fileNotFound` works.
        public static func ~= (pattern: Code, error: Error) -> Bool { pattern == error.code }
    }
}

extension Realm.Error.Code {
    init(_ code: EngineError.Code) {
        self =
            switch code {
            case .fileNotFound: .fileNotFound
            case .accessDenied: .fileAccess
            case .incompatibleConfiguration: .incompatibleConfiguration
            case .schemaMismatch: .schemaMismatch
            case .schemaVersionNewer: .schemaVersionNewer
            case .notADatabase: .notADatabase
            case .corrupt: .corrupt
            case .unsupportedFormat: .unsupportedFileFormat
            case .outOfDiskSpace: .outOfDiskSpace
            case .inputOutput: .inputOutput
            case .busy: .busy
            case .invalidInput: .invalidInput
            case .tooManyVersions: .tooManyVersions
            case .commitOutcomeUnknown: .commitOutcomeUnknown
            case .uniqueViolation: .uniqueViolation
            }
    }
}

/// Runs engine work and throws its faults as the public error.
func translating<R>(_ body: () throws -> R) throws -> R {
    do {
        return try body()
    } catch let error as EngineError {
        throw Realm.Error(error)
    }
}
