import CMartletSQLite

/// A thin wrapper of SQLite's C API, for tests of SQLite itself.
///
/// `deinit` closes the connection. A test that depends on the time of closing calls `close`.
final class RawConnection {
    private var handle: OpaquePointer?

    init(_ path: String, vfs: String) throws(RawError) {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let code = sqlite3_open_v2(path, &handle, flags, vfs)
        guard code == SQLITE_OK else {
            let error = RawError(code: handle.map(sqlite3_extended_errcode) ?? code, sql: "open \(path)")
            close()
            throw error
        }
    }

    deinit { close() }

    func close() {
        sqlite3_close(handle)
        handle = nil
    }

    func execute(_ sql: String) throws(RawError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw RawError(code: sqlite3_extended_errcode(handle), sql: sql)
        }
    }

    /// The first column of the first row.
    func integer(_ sql: String) throws(RawError) -> Int {
        try first(sql) { Int(sqlite3_column_int64($0, 0)) }
    }

    /// The first column of the first row.
    func text(_ sql: String) throws(RawError) -> String {
        try first(sql) { sqlite3_column_text($0, 0).map { String(cString: $0) } ?? "" }
    }

    private func first<Value>(_ sql: String, _ read: (OpaquePointer?) -> Value) throws(RawError) -> Value {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { throw RawError(code: sqlite3_extended_errcode(handle), sql: sql) }
        return read(statement)
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Runs a passive checkpoint. Returns the number of frames in the log, and the number of frames that have been
    /// copied into the database file.
    func checkpointPassively() throws(RawError) -> (logged: Int, checkpointed: Int) {
        var logged: CInt = 0
        var checkpointed: CInt = 0
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, &logged, &checkpointed)
        guard code == SQLITE_OK else { throw RawError(code: code, sql: "checkpoint") }
        return (Int(logged), Int(checkpointed))
    }
}

/// An extended result code, and the statement or action that failed.
struct RawError: Error, Equatable {
    let code: CInt
    let sql: String
}
