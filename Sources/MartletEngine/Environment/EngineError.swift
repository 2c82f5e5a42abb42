package import MartletSQLite

/// An error of the disk, a lock, another process, the data or a migration. The public module converts each
/// `EngineError` to its only public error type.
package struct EngineError: Error, Sendable {
    package enum Code: Sendable {
        case fileNotFound, accessDenied, incompatibleConfiguration, schemaMismatch, schemaVersionNewer, notADatabase
        case corrupt, unsupportedFormat, outOfDiskSpace, inputOutput, busy, invalidInput, tooManyVersions
        case commitOutcomeUnknown, uniqueViolation, deletionDenied, fileExists, alreadyOpen, stopped
        case fileReplaced, logFull, wrongUser
    }

    package let code: Code
    package let path: String
    /// A text that says what happened and, if there is a remedy, how to fix it. It begins with a lower-case letter and
    /// has no full stop at its end.
    package let message: String
    package let underlying: SQLiteError?
    /// An error that user code threw inside the engine. It is rethrown to the user unchanged.
    package let cause: (any Error)?

    package init(
        _ code: Code, path: String, _ message: String, underlying: SQLiteError? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.path = path
        self.message = message
        self.underlying = underlying
        self.cause = cause
    }

    /// Describes an error of SQLite in terms that a user of the file understands.
    package init(_ error: SQLiteError, path: String, duringCommit: Bool = false) {
        let detail = "SQLite says '\(error.message)' (\(error.extendedCode))"
        let (code, text): (Code, String) =
            if duringCommit && error.leavesOutcomeUnknown {
                (
                    .commitOutcomeUnknown,
                    "the disk did not confirm a commit, so its outcome is unknown; open the file again and check "
                        + "whether it contains the changes"
                )
            } else {
                switch error.primary {
                case .busy, .locked, .protocol:
                    (
                        .busy,
                        "another process kept the file locked for too long; try again when that process has released "
                            + "the lock"
                    )
                case .readOnly:
                    (.accessDenied, "the file or its folder is read-only; open it with 'readOnly' or allow writing")
                case .permission, .authorization: (.accessDenied, "no permission to use the file")
                case .cannotOpen:
                    (.accessDenied, "the file cannot be opened; check that its folder exists and is writable")
                case .full:
                    (
                        .outOfDiskSpace,
                        "the disk is full; nothing of this transaction was kept; free space and try again"
                    )
                case .inputOutput where error.isFileTooShort:
                    (
                        .corrupt,
                        "the file is shorter than it must be; it was left as it is; restore a backup or work on a copy"
                    )
                case .inputOutput: (.inputOutput, "reading or writing failed; nothing of this transaction was kept")
                case .corrupt:
                    (.corrupt, "the file is damaged; it was left as it is; restore a backup or work on a copy")
                case .notADatabase: (.notADatabase, "this is not a Martlet file; it was left as it is")
                case .constraint where error.isUniquenessViolation:
                    (.uniqueViolation, "a value that must be unique exists already")
                case .constraint:
                    (
                        .corrupt,
                        "a row has a value that its table does not allow: the file is damaged; nothing of this transaction was kept; "
                            + "restore a backup, or correct the row with the program 'sqlite3'"
                    )
                case .tooBig: (.invalidInput, "a value is larger than SQLite can store")
                default: (.inputOutput, "the file could not be used")
                }
            }
        self.init(code, path: path, "\(text): \(detail)", underlying: error)
    }
}
