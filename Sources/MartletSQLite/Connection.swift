import CMartletLogVFS
import CMartletSQLite
package import MartletValues
import Synchronization

/// One SQLite connection and its prepared statements. It is used by one thread at a time.
// Sendable: this type has no lock. Its owner makes sure that only one thread uses a connection at a time.
package final class Connection: @unchecked Sendable {
    package let options: ConnectionOptions
    package let handle: OpaquePointer
    private var statements: [String: Statement] = [:]
    /// The number of the current set of statements. It is unique among all connections, and changes when the statements
    /// are finalized.
    @exclusivity(unchecked) private(set) var generation = Connection.nextGeneration()
    private static let generations = Atomic<UInt64>(0)
    private var isClosed = false
    /// The length of the write-ahead log in frames after this connection's last commit.
    package private(set) var logFrames = 0

    /// - Parameter configuresImmediately: false to defer the first read of the file. The caller then calls
    ///   `configureAndRead`.
    package init(_ options: ConnectionOptions, configuresImmediately: Bool = true) throws(SQLiteError) {
        self.options = options
        var opened: OpaquePointer?
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        flags |= options.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        if options.createsFile && !options.isReadOnly { flags |= SQLITE_OPEN_CREATE }
        // `VACUUM INTO` selects another VFS for the new file by a URI, so URIs are enabled. The path of the database
        // itself is never a URI. If this path begins with "file:", URIs are disabled, so that SQLite does not interpret
        // the path as a URI.
        if !options.path.hasPrefix("file:") { flags |= SQLITE_OPEN_URI }
        let code = sqlite3_open_v2(options.path, &opened, flags, Self.vfsName(options))
        guard code == SQLITE_OK, let opened else {
            let error = SQLiteError(opened, code: code)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        if configuresImmediately { try configureAndRead() }
    }

    private static func vfsName(_ options: ConnectionOptions) -> String? {
        let plain = options.vfsName ?? MemoryFiles.vfsName(of: options.path)
        guard options.recordsLogName, plain == options.vfsName, let name = cmartlet_log_vfs(plain) else { return plain }
        return String(cString: name)
    }

    private static func nextGeneration() -> UInt64 { generations.add(1, ordering: .relaxed).newValue }

    deinit { close() }

    /// Finalizes all statements and closes the connection. It does not checkpoint: checkpoints run only under the write
    /// lock, see `StoreCoordinator+Checkpoint.swift`.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        finalizeStatements()
        sqlite3_close_v2(handle)
    }

    /// Configures the connection, and reads the file and its log. The settings that protect against hostile file
    /// content are applied before the first read of the file.
    package func configureAndRead() throws(SQLiteError) {
        sqlite3_busy_timeout(handle, Int32(options.busyTimeoutMilliseconds))
        _ = cmartlet_db_config_int(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        _ = cmartlet_db_config_int(handle, SQLITE_DBCONFIG_DQS_DML, 0)
        _ = cmartlet_db_config_int(handle, SQLITE_DBCONFIG_DQS_DDL, 0)
        _ = cmartlet_db_config_int(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        _ = cmartlet_db_config_int(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        _ = cmartlet_db_config_int(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0)
        _ = cmartlet_db_config_int(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
        sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 200)
        sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1)
        try execute(
            """
            PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; \
            PRAGMA cache_size = -\(options.cacheKilobytes); PRAGMA synchronous = \(options.synchronous); \
            PRAGMA journal_size_limit = \(ConnectionOptions.journalSizeLimitBytes)
            """)
        #if canImport(Darwin)
            // On Darwin, `fsync` does not flush the cache of the drive, which a power loss clears.
            if options.synchronous != "OFF" { try execute("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON") }
        #endif
        // This hook replaces SQLite's default hook, which would checkpoint.
        _ = sqlite3_wal_hook(
            handle,
            { context, _, _, frames in
                if let context {
                    Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logFrames = Int(frames)
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Runs one or more SQL statements whose rows are not needed.
    package func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(handle, code: code, sql: sql) }
    }

    /// The prepared statement for `sql`, which the connection caches. A caller must reset the statement before another
    /// caller requests the same text.
    package func statement(_ sql: String) throws(SQLiteError) -> Statement {
        if let statement = statements[sql] { return statement }
        let statement = try Statement(connection: handle, generation: generation, sql: sql)
        if statements.count >= 512 { evictStatements() }
        statements[sql] = statement
        return statement
    }

    // A statement that a caller still references is kept: its rows may be in use.
    private func evictStatements() {
        for sql in Array(statements.keys) where isKnownUniquelyReferenced(&statements[sql]) { statements[sql] = nil }
    }

    /// The value in the first column of the first row. Nil if there is no row.
    package func value(_ sql: String, _ arguments: [SQLValue] = []) throws(SQLiteError) -> SQLValue? {
        let statement = try statement(sql)
        statement.bind(arguments)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return statement.value(0)
    }

    package func integer(_ sql: String, _ arguments: [SQLValue] = []) throws(SQLiteError) -> Int64? {
        if case .integer(let number)? = try value(sql, arguments) { return number }
        return nil
    }

    package func run(_ sql: String, _ arguments: [SQLValue] = []) throws(SQLiteError) {
        let statement = try statement(sql)
        statement.bind(arguments)
        try statement.run()
    }

    /// Finalizes all prepared statements, for example after a schema change. This includes statements that callers
    /// still reference. Otherwise another thread could release the last reference to such a statement, and so finalize
    /// it, while this thread uses the connection.
    package func finalizeStatements() {
        for statement in statements.values { statement.finalize() }
        statements = [:]
        generation = Self.nextGeneration()
    }

    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// True inside a write transaction of SQLite. (This is not `WriteLock`, the lock file of the engine.)
    package var isWriting: Bool { sqlite3_txn_state(handle, "main") == SQLITE_TXN_WRITE }

    /// True if the file was opened read-only, either on request or because writing is not permitted.
    package var isFileReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// The absolute path of the file without symbolic links, as resolved by SQLite.
    package var filePath: String { sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? options.path }

    /// The SQL of a statement that is not reset. Such a statement keeps its snapshot pinned. Nil if all statements are
    /// reset.
    package var unfinishedStatement: String? {
        var statement = sqlite3_next_stmt(handle, nil)
        while let current = statement {
            if sqlite3_stmt_busy(current) != 0 { return sqlite3_sql(current).map { String(cString: $0) } ?? "" }
            statement = sqlite3_next_stmt(handle, current)
        }
        return nil
    }

    /// The number of rows that the last statement changed.
    package var changedRows: Int { Int(sqlite3_changes(handle)) }

    /// Copies committed frames of the log into the database file, as far as open read transactions allow. Returns the
    /// number of frames in the log and the number of copied frames. Only called under the write lock, see
    /// `StoreCoordinator+Checkpoint.swift`.
    package func checkpointPassively() throws(SQLiteError) -> (logFrames: Int, copiedFrames: Int) {
        var log: Int32 = 0
        var copied: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, &log, &copied)
        guard code == SQLITE_OK || code & 0xff == SQLITE_BUSY else { throw SQLiteError(handle, code: code) }
        return (Int(log), Int(copied))
    }

    package static var libraryVersion: Int { Int(sqlite3_libversion_number()) }
    package static var libraryVersionText: String { String(cString: sqlite3_libversion()) }
}
