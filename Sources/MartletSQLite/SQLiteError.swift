import CMartletSQLite

/// An error that SQLite reported. It is the only error type that this module throws.
package struct SQLiteError: Error, Sendable {
    /// The extended result code (`SQLITE_IOERR_FSYNC`, `SQLITE_BUSY_SNAPSHOT` …).
    package let extendedCode: Int32
    package let message: String
    package let sql: String?

    package init(extendedCode: Int32, message: String, sql: String? = nil) {
        self.extendedCode = extendedCode
        self.message = message
        self.sql = sql
    }

    init(_ handle: OpaquePointer?, code: Int32, sql: String? = nil) {
        let extended = handle.map { sqlite3_extended_errcode($0) } ?? code
        extendedCode = extended & 0xff == code & 0xff ? extended : code
        message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
        self.sql = sql
    }

    /// The primary result code: the low byte of the extended result code.
    package var primary: Primary { Primary(rawValue: extendedCode & 0xff) }

    /// True if a COMMIT that failed with this error may nevertheless be in the file when the file is opened again. This
    /// happens if the log was written but the sync failed, or if a failed write reached the disk after all. False for a
    /// failed read (`SQLITE_IOERR_READ`, `SQLITE_IOERR_SHORT_READ`) and for a full disk: these errors occur before the
    /// commit is written.
    package var leavesOutcomeUnknown: Bool {
        primary == .inputOutput && ![1, 2].contains(extendedCode >> 8)
    }

    /// True if a `UNIQUE` or `PRIMARY KEY` constraint failed, or if a row with the same key already exists.
    package var isUniquenessViolation: Bool {
        [CMARTLET_CONSTRAINT_UNIQUE, CMARTLET_CONSTRAINT_PRIMARYKEY, CMARTLET_CONSTRAINT_ROWID]
            .contains(Int(extendedCode))
    }

    /// True if a page lies beyond the end of the file (`SQLITE_IOERR_SHORT_READ`, `SQLITE_IOERR_CORRUPTFS`).
    package var isFileTooShort: Bool { primary == .inputOutput && [2, 33].contains(extendedCode >> 8) }

    package struct Primary: RawRepresentable, Equatable, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }
        /// An error for which SQLite has no specific code, for example SQL that does not match the tables.
        package static let generic = Primary(rawValue: SQLITE_ERROR)
        package static let busy = Primary(rawValue: SQLITE_BUSY)
        package static let locked = Primary(rawValue: SQLITE_LOCKED)
        package static let outOfMemory = Primary(rawValue: SQLITE_NOMEM)
        package static let readOnly = Primary(rawValue: SQLITE_READONLY)
        package static let inputOutput = Primary(rawValue: SQLITE_IOERR)
        package static let corrupt = Primary(rawValue: SQLITE_CORRUPT)
        package static let full = Primary(rawValue: SQLITE_FULL)
        package static let cannotOpen = Primary(rawValue: SQLITE_CANTOPEN)
        package static let `protocol` = Primary(rawValue: SQLITE_PROTOCOL)
        package static let constraint = Primary(rawValue: SQLITE_CONSTRAINT)
        package static let notADatabase = Primary(rawValue: SQLITE_NOTADB)
        package static let permission = Primary(rawValue: SQLITE_PERM)
        package static let authorization = Primary(rawValue: SQLITE_AUTH)
        package static let tooBig = Primary(rawValue: SQLITE_TOOBIG)
    }
}
