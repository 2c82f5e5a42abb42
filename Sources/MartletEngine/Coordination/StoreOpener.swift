import Foundation
import MartletSQLite

/// Opens a file: looks before it touches, creates what is missing, and brings the object types up to date.
///
/// A file that is foreign, damaged or newer is never written to.
struct StoreOpener {
    let options: StoreOptions
    let writeLock: WriteLock

    init(_ options: StoreOptions, _ writeLock: WriteLock) {
        self.options = options
        self.writeLock = writeLock
    }

    private var path: String { options.path }

    func open() throws -> Connection {
        try checkSurroundings()
        let connection = try Connection(options.connection)
        try QueryFunctions.install(on: connection)
        do {
            if try isNew(connection) {
                try create(connection)
            } else {
                try checkFormat(connection)
            }
            try applySchema(connection)
            return connection
        } catch {
            connection.close()
            throw error
        }
    }

    private func checkSurroundings() throws {
        guard options.environment.vfsName == nil else { return }
        let exists = StoreFiles.exists(path)
        if !exists {
            let folder = (path as NSString).deletingLastPathComponent
            var isFolder: ObjCBool = false
            let hasFolder = FileManager.default.fileExists(atPath: folder.isEmpty ? "." : folder, isDirectory: &isFolder)
            if options.isReadOnly {
                throw EngineError(.fileNotFound, path: path, "there is no file to open; 'readOnly' does not create one")
            }
            if !hasFolder || !isFolder.boolValue {
                throw EngineError(.fileNotFound, path: path, "the folder '\(folder)' does not exist; create it first")
            }
        }
        if exists && !options.isReadOnly && access(path, W_OK) != 0 {
            throw EngineError(
                .accessDenied, path: path, "the file may not be written; change its permissions or open it with 'readOnly'")
        }
        if StoreFiles.isOnNetwork(path) {
            throw EngineError(
                .accessDenied, path: path, "the file is on a network file system, where locks are not reliable; move it")
        }
    }

    private func isNew(_ connection: Connection) throws -> Bool {
        guard try connection.integer("PRAGMA page_count") == 0 else { return false }
        if options.isReadOnly {
            throw EngineError(.notADatabase, path: path, "the file is empty; 'readOnly' does not create a database in it")
        }
        return true
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
        let format = try connection.integer("PRAGMA user_version") ?? 0
        guard format == Catalog.format else {
            throw EngineError(
                .unsupportedFormat, path: path,
                "the file has format \(format) and this version of Martlet reads format \(Catalog.format); "
                    + "it was left as it is; use a newer Martlet")
        }
    }

    // Another process may be doing the same: everything happens again under the lock.
    private func create(_ connection: Connection) throws {
        try writeLock.acquire()
        defer { writeLock.release() }
        guard try connection.integer("PRAGMA page_count") == 0 else { return try checkFormat(connection) }
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute("BEGIN IMMEDIATE")
        do {
            try connection.execute("PRAGMA application_id = \(Catalog.applicationID)")
            try connection.execute("PRAGMA user_version = \(Catalog.format)")
            for statement in Catalog.definition { try connection.execute(statement) }
            try connection.execute(
                "UPDATE martlet_meta SET schema_version = \(Int64(bitPattern: options.schemaVersion))")
            try connection.execute("COMMIT")
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    // MARK: Object types

    private func applySchema(_ connection: Connection) throws {
        let declared = options.types.map(\.type)
        let meta = try Catalog.meta(connection)
        try checkSchemaVersion(meta)
        let stored = try storedTypes(connection)
        let diff = SchemaDiff(stored: stored, declared: declared)
        if diff.steps.isEmpty && diff.differences.isEmpty && meta.schemaVersion == Int64(bitPattern: options.schemaVersion) {
            return
        }
        try refuse(diff)
        if options.isReadOnly {
            guard diff.steps.isEmpty else {
                throw EngineError(
                    .schemaMismatch, path: path,
                    "the file lacks \(diff.steps.count) changes of the schema and is open with 'readOnly'; "
                        + "open it once for writing")
            }
            return
        }
        try writeLock.acquire()
        defer { writeLock.release() }
        try connection.execute("BEGIN IMMEDIATE")
        do {
            let diff = SchemaDiff(stored: try storedTypes(connection), declared: declared)
            try refuse(diff)
            try SchemaChange(connection, options.types).apply(diff)
            try connection.execute(
                """
                UPDATE martlet_meta SET version = version + 1, epoch = epoch + \(diff.steps.isEmpty ? 0 : 1), \
                schema_version = \(Int64(bitPattern: options.schemaVersion))
                """)
            try connection.execute("DELETE FROM martlet_changes")
            try connection.execute("COMMIT")
            connection.forgetStatements()
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    private func storedTypes(_ connection: Connection) throws -> [ObjectTypeSchema] {
        try Catalog.types(connection).compactMap { SchemaFacts.objectType($0.facts) }
    }

    private func checkSchemaVersion(_ meta: Catalog.Meta) throws {
        let stored = UInt64(bitPattern: meta.schemaVersion)
        guard stored > options.schemaVersion else { return }
        throw EngineError(
            .schemaVersionNewer, path: path,
            "the file has schema version \(stored) and the configuration says \(options.schemaVersion); "
                + "it was left as it is; use the newer program or raise 'schemaVersion'")
    }

    private func refuse(_ diff: SchemaDiff) throws {
        guard !diff.differences.isEmpty else { return }
        let list = diff.differences.map { "\n  - \($0)" }.joined()
        throw EngineError(
            .schemaMismatch, path: path,
            "the schema and the file differ in what cannot change by itself; nothing was changed:\(list)")
    }
}
