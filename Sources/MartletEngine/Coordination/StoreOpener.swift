import Foundation
import MartletSQLite

/// Opens a file: looks before it touches, creates what is missing, and brings the object types up to date.
///
/// A file that is foreign, damaged or newer is never written to.
struct StoreOpener {
    /// A connection to a file that fits, and what it found there.
    struct Opened {
        /// Inside the transaction that read the rest, unless the file had to be changed.
        let connection: Connection
        let writeLock: WriteLock
        let meta: Catalog.Meta
        /// The types of the file.
        let types: [(id: TableID, type: ObjectTypeSchema)]
        /// What the program's types need beside them; nil when the file has all of it.
        let overlay: SchemaOverlay?
    }

    let options: StoreOptions
    /// The queue of writers if the file is open already.
    let knownLock: WriteLock?

    init(_ options: StoreOptions, _ knownLock: WriteLock?) {
        self.options = options
        self.knownLock = knownLock
    }

    var path: String { options.path }

    func open() throws(EngineError) -> Opened {
        try EngineError.naming(path) {
            try plantSeed()
            if options.environment.vfsName == nil {
                try StoreFiles.check(path, isReadOnly: options.isReadOnly, options.environment)
            }
            let connection = try connect()
            do {
                // Where writing is not allowed SQLite opens for reading without a word.
                if connection.isFileReadOnly && !options.isReadOnly { throw StoreFiles.notWritable(path) }
                try QueryFunctions.install(on: connection)
                let writeLock =
                    knownLock ?? WriteLock(path: connection.filePath + ".lock", environment: options.environment)
                return try look(connection, writeLock)
            } catch {
                connection.close()
                throw error
            }
        }
    }

    private func connect() throws -> Connection {
        do {
            return try Connection(options.connection)
        } catch {
            guard options.isReadOnly, error.primary == .readOnly || error.primary == .cannotOpen else { throw error }
            throw EngineError(
                .accessDenied, path: path,
                "readers put a '-shm' file beside the database, which is not allowed here; "
                    + "copy it to a folder that may be written: SQLite says '\(error.message)' (\(error.extendedCode))")
        }
    }

    private func look(_ connection: Connection, _ writeLock: WriteLock) throws -> Opened {
        let isReady = isReady(connection)
        if !isReady {
            if try isNew(connection) { try create(connection, writeLock) } else { try checkFormat(connection) }
        }
        if options.environment.vfsName == nil { try StoreFiles.checkLength(path) }
        let (overlay, found) = try knowing(connection) {
            try self.overlay(connection, applySchema(connection, writeLock))
        }
        if !isReady { try ensureLog(connection, writeLock) }
        return Opened(
            connection: connection, writeLock: writeLock, meta: found.meta, types: found.types, overlay: overlay)
    }

    // True when the bytes on disk say that there is nothing to create and nothing to refuse, which spares asking SQLite.
    // The version row of the snapshot says it again.
    private func isReady(_ connection: Connection) -> Bool {
        guard let header = connection.fileHeader() else { return false }
        return header.applicationID == Catalog.applicationID && header.userVersion == Catalog.format
            && header.isWriteAheadLogged
    }

    // What the engine asks for was made by the engine: if SQLite does not know it, the file is not what it was.
    private func knowing<R>(_ connection: Connection, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as SQLiteError where error.primary == .unspecific {
            try checkFormat(connection)
            throw EngineError.damaged("a part of the catalog is missing ('\(error.message)')", path: path)
        }
    }

    // MARK: The file

    // Whoever creates a file may be killed on the way: then it has pages but nothing in them.
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
        guard format != Catalog.format else { return }
        let mend = format > Catalog.format ? "use a newer Martlet" : "use the Martlet that wrote it"
        throw EngineError(
            .unsupportedFormat, path: path,
            "the file has format \(format) and this version of Martlet reads format \(Catalog.format); "
                + "it was left as it is; \(mend)")
    }

    // A tool may have taken the log away; without it readers would block writers.
    private func ensureLog(_ connection: Connection, _ writeLock: WriteLock) throws {
        if connection.isInTransaction { try connection.run("ROLLBACK") }
        guard !options.isReadOnly, try connection.value("PRAGMA journal_mode") != .text("wal") else { return }
        try writeLock.acquire()
        defer { writeLock.release() }
        try makeLog(connection)
    }

    // Called under the write lock.
    func makeLog(_ connection: Connection) throws { try connection.execute("PRAGMA journal_mode = WAL") }

    // Another process may be doing the same: everything happens again under the lock.
    private func create(_ connection: Connection, _ writeLock: WriteLock) throws {
        try writeLock.acquire()
        defer { writeLock.release() }
        guard try connection.integer("PRAGMA page_count") == 0 || isBlank(connection) else {
            return try checkFormat(connection)
        }
        try connection.execute("PRAGMA page_size = \(options.environment.pageSize)")
        try connection.execute("PRAGMA journal_mode = WAL")
        try transaction(on: connection) {
            try connection.execute("PRAGMA application_id = \(Catalog.applicationID)")
            try connection.execute("PRAGMA user_version = \(Catalog.format)")
            for statement in Catalog.definition { try connection.execute(statement) }
            try connection.execute(
                "UPDATE martlet_meta SET schema_version = \(Int64(bitPattern: options.schemaVersion))")
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
