import CMartletLogVFS
import CMartletSQLite

/// What a database file says of the logs that continue it. A log is named by the salts in its header, which are random and
/// renewed with each log.
package struct LogMark: Equatable, Sendable {
    /// The log that continues the file.
    package let current: UInt64
    /// The log before it, all of which is in the file; zero for none.
    package let previous: UInt64

    /// From bytes 72 to 91 of the file, laid out as `cmartlet_log_vfs.h` says; nil where they are not a mark.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count == 20, bytes.suffix(4).elementsEqual("MRTL".utf8) else { return nil }
        current = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        previous = bytes.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The log as all connections of all processes see it.
package struct LogState: Equatable, Sendable {
    /// The name of the log that goes on, or of the one to be begun; zero when none has begun since the first of those who
    /// have the file open opened it.
    package let name: UInt64
    package let frames: Int
    /// How many frames are in the database file.
    package let copied: Int

    /// True when the log after `mark` would have this name: SQLite counts up the first half and draws the second.
    package func isNext(after mark: LogMark) -> Bool {
        UInt32(truncatingIfNeeded: mark.current >> 32) &+ 1 == UInt32(truncatingIfNeeded: name >> 32)
    }
}

extension Connection {
    private var pointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(handle) }

    /// Nil before the first read, without a log, and for an instant while another connection commits.
    package var logState: LogState? {
        var state = CMartletLogState()
        guard cmartlet_log_state(pointer, &state) else { return nil }
        return LogState(name: state.salts, frames: Int(state.frames), copied: Int(state.copied))
    }

    /// The name of the log on disk; nil when there is none that SQLite would read. To be asked before the first read.
    package func logOnDisk() throws(SQLiteError) -> UInt64? {
        var name: UInt64 = 0
        var isLog = false
        try check(cmartlet_log_on_disk(pointer, &isLog, &name))
        return isLog ? name : nil
    }

    /// True when the path of the file leads elsewhere by now, or nowhere.
    package var isFileMoved: Bool { cmartlet_file_is_moved(pointer) }

    /// True when the path of the log leads to another one than this connection reads.
    package var isLogMoved: Bool { cmartlet_log_is_moved(pointer) }

    /// Makes the database file name the log that continues it. For the holder of the write lock.
    package func markFile(_ name: UInt64) throws(SQLiteError) {
        try check(cmartlet_log_mark(pointer, name, options.synchronous != "OFF"))
    }

    /// Cuts a log to nothing that is in the database file as a whole and that nobody reads.
    package func cutLog() throws(SQLiteError) { try check(cmartlet_log_cut(pointer)) }

    /// Deletes a log that nobody has open.
    package func deleteLog() throws(SQLiteError) { try check(cmartlet_log_delete(pointer)) }

    /// Copies the log into the database file and cuts it to nothing, unless somebody reads it. True when the log is empty.
    /// To be called through the gate only, when everything has been copied.
    package func emptyLog() -> Bool {
        sqlite3_busy_timeout(handle, 0)
        defer { sqlite3_busy_timeout(handle, Int32(options.busyTimeoutMilliseconds)) }
        return sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil) == SQLITE_OK
    }

    func check(_ code: Int32) throws(SQLiteError) {
        guard code != SQLITE_OK else { return }
        throw SQLiteError(extendedCode: code, message: String(cString: sqlite3_errstr(code)))
    }
}
