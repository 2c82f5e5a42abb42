import Foundation
import MartletSQLite
import MartletValues

/// Opens a file. The opener checks the file before it writes anything. Then it creates the parts of the file that are
/// missing, and updates the object types.
///
/// The opener never writes to a file that is damaged, of a newer format, or of another program.
struct StoreOpener {
    /// A connection to a valid file, and the contents that were read.
    struct Opened {
        /// The connection is still in the transaction in which `meta` and `types` were read. There is one exception: it
        /// is in no transaction if the file was new, had another format, or used no write-ahead log when it was opened.
        let connection: Connection
        let writeLock: WriteLock
        let meta: Catalog.Meta
        /// The types of the file.
        let types: [(id: TableID, type: ObjectTypeSchema)]
        /// The overlay for the types and properties that a read-only file lacks; nil if it lacks none.
        let overlay: SchemaOverlay?
    }

    /// The progress of one call of `open`.
    final class Progress {
        /// True after the user's migration block was called. The block is then not called for another file, because it
        /// may have changed state of the program.
        var hasCalledMigration = false
    }

    let progress = Progress()
    let options: StoreOptions
    /// The write lock, if this process already has the file open; otherwise nil.
    let knownLock: WriteLock?

    init(_ options: StoreOptions, _ knownLock: WriteLock?) {
        self.options = options
        self.knownLock = knownLock
    }

    var path: String { options.path }

    func open() throws(EngineError) -> Opened {
        StoreRegistry.requireNotInherited(options)
        return try EngineError.wrapping(path) {
            try requireDistinctNames()
            for attempt in 1... {
                try copySeedFile()
                if let opened = try connect(checkFiles(), isLastAttempt: attempt == Self.attempts) { return opened }
                if attempt == Self.attempts { break }
            }
            throw EngineError(
                .busy, path: path,
                "other programs repeatedly move or delete the file at this path; open the file again")
        }
    }

    private static let attempts = 10

    var isOnDisk: Bool { options.environment.vfsName == nil && !MemoryFiles.contains(path) }

    // Checks the files before SQLite opens the database, and creates an empty file if there is none. Returns nil for a
    // read-only file, because it needs no lock file.
    private func checkFiles() throws(EngineError) -> (file: LockFile, content: LockFile.Content)? {
        guard isOnDisk else { return nil }
        try StoreFiles.check(path, isReadOnly: options.isReadOnly, options.environment)
        guard !options.isReadOnly else { return nil }
        let file = LockFile(path: StoreFiles.resolved(path) + LockFile.suffix)
        let content = try file.inspect()
        if !StoreFiles.exists(path) { try createFile() }
        return (file, content)
    }

    private func createFile() throws(EngineError) {
        if StoreFiles.logBytes(path) > 0 {
            let lock = WriteLock(
                path: StoreFiles.resolved(path) + LockFile.suffix, environment: options.environment)
            try lock.acquire()
            defer { lock.release() }
            try SetAsideLogs.setAsideLogOfMissingFile(path, options.environment)
        }
        StoreFiles.create(path, mode: options.fileMode)
    }

    // Returns nil if the caller must call this method again, for one of these reasons:
    // - The file was moved to the path of a file that is still in use. This method has removed the index of the file
    //   that is in use.
    // - Another process has moved or deleted the file.
    // - An error of the log may be temporary.
    private func connect(
        _ lockFile: (file: LockFile, content: LockFile.Content)?, isLastAttempt: Bool
    ) throws -> Opened? {
        guard let connection = try connection(isLastAttempt: isLastAttempt) else { return nil }
        let writeLock =
            knownLock ?? WriteLock(path: connection.filePath + LockFile.suffix, environment: options.environment)
        let verifier = LogVerifier(connection: connection, writeLock: writeLock, options: options)
        var obsolete: UInt64?
        var logError: EngineError?
        do {
            // If this process already has the file open, its coordinator has checked the log.
            if knownLock == nil { obsolete = try verifier.verify() }
            try connection.configureAndRead()
            // If the file was moved, SQLite may have opened the log and the index of another file.
            try connection.requireUnmoved()
            logError = knownLock == nil ? verifier.errorOfReadLog(obsolete: obsolete) : nil
            if let logError { throw logError }
            if let lockFile, case .earlier = lockFile.content, let version = try? Catalog.meta(connection).version {
                try lockFile.file.check(lockFile.content, fits: version)
            }
            // If writing is not allowed, SQLite opens the file for reading without an error.
            if connection.isFileReadOnly && !options.isReadOnly { throw StoreFiles.notWritable(path) }
            try QueryFunctions.install(on: connection)
            let opened = try inspect(connection, writeLock)
            if isOnDisk && !options.isReadOnly { StoreFiles.matchModes(of: connection.filePath) }
            return opened
        } catch {
            defer { connection.close() }
            if progress.hasCalledMigration { return try reportingPermission { throw error } }
            if connection.isFileMoved && knownLock == nil { return nil }
            if connection.isLogIndexOfOtherDatabase {
                try verifier.removeForeignIndex()
                return nil
            }
            // The log may also be the reason why reading the file failed.
            if knownLock == nil && logError == nil { logError = verifier.errorOfReadLog(obsolete: obsolete) }
            if logError != nil && !isLastAttempt {
                options.environment.sleep(1_000)
                return nil
            }
            return try reportingPermission { throw logError ?? error }
        }
    }

    // Returns nil if another process has deleted the file since it was checked.
    private func connection(isLastAttempt: Bool) throws -> Connection? {
        do {
            return try reportingPermission { try Connection(options.connection, configuresImmediately: false) }
        } catch {
            if isOnDisk && !isLastAttempt && !StoreFiles.exists(path) { return nil }
            throw error
        }
    }

    private func reportingPermission<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as SQLiteError {
            guard options.isReadOnly, error.primary == .readOnly || error.primary == .cannotOpen else { throw error }
            throw EngineError(
                .accessDenied, path: path,
                "readers create a '-shm' file beside the database, which is not permitted here; "
                    + "copy the database to a folder in which files can be created: "
                    + "SQLite says '\(error.message)' (\(error.extendedCode))")
        }
    }

    private func inspect(_ connection: Connection, _ writeLock: WriteLock) throws -> Opened {
        let isReady = isReady(connection)
        if !isReady {
            if try isNew(connection) { try create(connection, writeLock) } else { try checkFormat(connection) }
        }
        if isOnDisk { try StoreFiles.checkLength(path) }
        let (overlay, found) = try reportingDamage(connection) {
            if !isReady { try upgradeFormat(connection, writeLock) }
            return try self.overlay(connection, applySchema(connection, writeLock))
        }
        if !isReady { try ensureWriteAheadLog(connection, writeLock) }
        return Opened(
            connection: connection, writeLock: writeLock, meta: found.meta, types: found.types, overlay: overlay)
    }

    // True if, according to its header on disk, the file has the wanted format and uses a write-ahead log. In that case
    // there is nothing to create or upgrade, and no reason to reject the file. Reading the header is faster than SQL
    // queries. The format in the version row is always checked later.
    private func isReady(_ connection: Connection) -> Bool {
        guard let header = connection.fileHeader() else { return false }
        let isWanted =
            header.userVersion == options.format || (options.isReadOnly && header.userVersion == Catalog.syncedFormat)
        return header.applicationID == Catalog.applicationID && isWanted && header.isWriteAheadLogged
    }

    // The engine has created every table that it reads. So if SQLite does not find a table, the file is damaged or was
    // replaced.
    private func reportingDamage<R>(_ connection: Connection, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as SQLiteError where error.primary == .generic {
            try checkFormat(connection)
            throw EngineError.damaged("a part of the catalog is missing ('\(error.message)')", path: path)
        }
    }

    // MARK: The file

    // True if the file is empty. Also true if the file has pages but no tables, because a process may have been killed
    // while it created the file.
    private func isNew(_ connection: Connection) throws -> Bool {
        guard try connection.integer("PRAGMA page_count") == 0 || isBlank(connection) else { return false }
        if options.isReadOnly {
            throw EngineError(
                .notADatabase, path: path, "the file is empty; 'readOnly' does not create a database in it")
        }
        return true
    }

    private func isBlank(_ connection: Connection) throws -> Bool {
        try connection.integer("PRAGMA application_id") == 0 && connection.integer("PRAGMA user_version") == 0
            && connection.integer("SELECT count(*) FROM sqlite_schema") == 0
    }

    private func checkFormat(_ connection: Connection) throws {
        let application = try connection.integer("PRAGMA application_id") ?? 0
        guard application == Catalog.applicationID else {
            let tables = try connection.integer("SELECT count(*) FROM sqlite_schema") ?? 0
            throw EngineError(
                .notADatabase, path: path,
                "this is a SQLite database of another program (\(tables) tables and indexes), not a Martlet file; "
                    + "it was left as it is; choose another path")
        }
        try checkFormat(try connection.integer("PRAGMA user_version") ?? 0)
    }

    func checkFormat(_ format: Int64) throws {
        if let error = Catalog.formatError(for: format, path: path) ?? options.formatError(for: format) { throw error }
    }

    // Switches the file back to a write-ahead log. Another tool may have switched it to another journal mode, in which
    // readers would block writers.
    private func ensureWriteAheadLog(_ connection: Connection, _ writeLock: WriteLock) throws {
        if connection.isInTransaction { try connection.run("ROLLBACK") }
        guard !options.isReadOnly, try connection.value("PRAGMA journal_mode") != .text("wal") else { return }
        try writeLock.acquire()
        defer { writeLock.release() }
        try connection.requireUnmoved()
        try enableWriteAheadLog(connection)
    }

    // Called under the write lock. Repeats the statement while another process that is also opening the file reads it.
    // SQLite itself does not wait for that process, because this connection reads the file too.
    func enableWriteAheadLog(_ connection: Connection) throws {
        var remainingMilliseconds = options.environment.writeTimeoutMilliseconds
        while true {
            do {
                return try connection.execute("PRAGMA journal_mode = WAL")
            } catch {
                guard error.primary == .busy, remainingMilliseconds > 0 else { throw error }
            }
            remainingMilliseconds -= 1
            options.environment.sleep(1_000)
        }
    }

    // Another process may be creating the file at the same time. Therefore this method checks again under the lock that
    // the file is new.
    private func create(_ connection: Connection, _ writeLock: WriteLock) throws {
        try writeLock.acquire()
        defer { writeLock.release() }
        // If the file was moved, the index at the path may belong to another file.
        try connection.requireUnmoved()
        let isEmpty = try connection.integer("PRAGMA page_count") == 0
        guard try isEmpty || isBlank(connection) else { return try checkFormat(connection) }
        // If the file is empty, an index at the path belongs to a deleted file, which a process may still have open.
        // The index is removed, so that the new file gets its own index.
        if isEmpty && isOnDisk { StoreFiles.removeIndex(of: connection.filePath) }
        try connection.execute("PRAGMA page_size = \(options.environment.pageSize)")
        try enableWriteAheadLog(connection)
        options.environment.yield(.insideCreate)
        try transaction(on: connection) {
            // Checks again. If the lock file was deleted after this process locked it, another process may have locked
            // a new lock file and created the tables.
            guard try isBlank(connection) else { return try checkFormat(connection) }
            try connection.execute("PRAGMA application_id = \(Catalog.applicationID)")
            try connection.execute("PRAGMA user_version = \(Catalog.format)")
            for statement in Catalog.definition { try connection.execute(statement) }
            try connection.execute(
                "UPDATE martlet_meta SET schema_version = \(Int64(bitPattern: options.schemaVersion))")
            if options.format == Catalog.syncedFormat { try SyncCatalog.create(connection) }
        }
    }

    func transaction(on connection: Connection, _ body: () throws -> Void) throws {
        try connection.execute("BEGIN IMMEDIATE")
        do {
            try body()
            try connection.execute("COMMIT")
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }
}
