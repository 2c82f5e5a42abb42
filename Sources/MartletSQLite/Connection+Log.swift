import CMartletLogVFS
import CMartletSQLite

/// The state of the log, read from shared memory. All connections of all processes share this state.
package struct LogState: Equatable, Sendable {
    /// The name of the current log. If SQLite has already chosen the salts of the next log, this is the name of the
    /// next log. Zero if no log has begun since the index was created.
    package let name: UInt64
    package let frames: Int
    /// The number of frames that have been copied into the database file.
    package let copied: Int

    /// True if this log can directly follow the log with the name `former`. For each new log, SQLite increments the
    /// first half of the name and chooses the second half at random.
    package func isNext(after former: UInt64) -> Bool {
        UInt32(truncatingIfNeeded: former >> 32) &+ 1 == UInt32(truncatingIfNeeded: name >> 32)
    }
}

extension Connection {
    private var pointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(handle) }

    /// The current state, read from the index of the log. Nil if this connection has not read the file, if there is no
    /// log, or if another connection is writing the index at this moment.
    package var logState: LogState? {
        var state = CMartletLogState()
        guard cmartlet_log_state(pointer, &state) else { return nil }
        return LogState(name: state.salts, frames: Int(state.frames), copied: Int(state.copied))
    }

    /// The name of the log on disk. Nil if there is no log that SQLite would read.
    package func nameOfLogOnDisk() throws(SQLiteError) -> UInt64? {
        var name: UInt64 = 0
        var isLog = false
        try check(cmartlet_log_on_disk(pointer, &isLog, &name))
        return isLog ? name : nil
    }

    /// True if the path of the file now refers to another file, or to no file.
    package var isFileMoved: Bool { cmartlet_file_is_moved(pointer) }

    /// True if the path of the log does not refer to the log that this connection reads.
    package var isLogMoved: Bool { cmartlet_log_is_moved(pointer) }

    /// True if the path of the index of the log does not refer to the index that this connection uses.
    package var isLogIndexMoved: Bool { cmartlet_index_is_moved(pointer) }

    /// True if reading the file failed because other connections use the index beside the file for another database.
    /// This happens if the file was moved to the path of a database that is still open.
    package var isLogIndexOfOtherDatabase: Bool { cmartlet_index_is_foreign(pointer) }

    /// True if the log was truncated or overwritten since its last commit. The caller holds the write lock.
    package var isLogDamaged: Bool { cmartlet_log_is_damaged(pointer) }

    /// Runs `body` under an exclusive lock on the file. In every process, an open connection that has read the file
    /// holds a shared lock. If there is such a connection, this method returns false and does not run `body`. Requires
    /// that this connection has not read the file.
    package func whileUnused(_ body: () throws -> Void) rethrows -> Bool {
        guard cmartlet_file_lock_if_unused(pointer) else { return false }
        defer { cmartlet_file_unlock(pointer) }
        try body()
        return true
    }

    /// Writes the name of the log into the database file. The caller holds the write lock.
    package func recordLogName(_ name: UInt64) throws(SQLiteError) {
        try check(cmartlet_log_record_name(pointer, name, options.synchronous != "OFF"))
    }

    /// Called after the log was copied into the database file completely and truncated. Makes the truncation durable,
    /// then writes a random name, which no log has, into the file. Because of this order, the file names the log on
    /// disk at every moment. The caller holds the write lock. Returns the random name.
    package func retireLogName() throws(SQLiteError) -> UInt64 {
        if options.synchronous != "OFF" { try check(cmartlet_log_sync(pointer)) }
        let name = UInt64.random(in: 1...UInt64.max)
        try recordLogName(name)
        return name
    }

    /// Truncates the log to zero bytes. Requires that the log was copied into the database file completely, and that no
    /// connection reads the log.
    package func truncateLog() throws(SQLiteError) { try check(cmartlet_log_truncate(pointer)) }

    /// Deletes the log. Requires that no connection has the log open.
    package func deleteLog() throws(SQLiteError) { try check(cmartlet_log_delete(pointer)) }

    /// Truncates the log to zero bytes, unless a connection reads the log. Returns true if the log was truncated.
    /// Called only under the write lock, after a checkpoint that copied the whole log.
    package func checkpointAndTruncateLog() -> Bool {
        sqlite3_busy_timeout(handle, 0)
        defer { sqlite3_busy_timeout(handle, Int32(options.busyTimeoutMilliseconds)) }
        return sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil) == SQLITE_OK
    }

    func check(_ code: Int32) throws(SQLiteError) {
        guard code != SQLITE_OK else { return }
        throw SQLiteError(extendedCode: code, message: String(cString: sqlite3_errstr(code)))
    }
}
