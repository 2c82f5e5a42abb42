import MartletSQLite
import MartletValues

/// The tables that describe a file. They contain the version row, the object types, and the change sets of the newest
/// commits.
enum Catalog {
    /// 'MRTL' as the SQLite application id.
    static let applicationID: Int64 = 0x4D52_544C
    /// The format of a file without synchronization. `Documentation/Behavior/FilesAndDurability.md` describes the
    /// formats.
    static let format: Int64 = 2
    /// The format of a synchronized file, which also has the tables of `SyncCatalog`. Programs that do not know this
    /// format refuse to open the file, because they would not record their changes for upload.
    static let syncedFormat: Int64 = 3
    static let oldestFormat: Int64 = 1
    static let newestFormat = syncedFormat

    static let definition = [
        """
        CREATE TABLE martlet_meta (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL, \
        epoch INTEGER NOT NULL, file_format INTEGER NOT NULL, schema_version INTEGER NOT NULL, \
        schema_hash INTEGER NOT NULL, file_id BLOB NOT NULL) STRICT
        """,
        """
        CREATE TABLE martlet_types (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, facts TEXT NOT NULL, \
        next_key INTEGER NOT NULL DEFAULT 1) STRICT
        """,
        "CREATE TABLE martlet_changes (version INTEGER PRIMARY KEY, changes BLOB) STRICT",
        "INSERT INTO martlet_meta VALUES (1, 1, 1, \(format), 0, 0, randomblob(16))",
    ]

    /// The content of the version row. If the first statement of a transaction reads the row, this statement pins the
    /// snapshot, and the row identifies the pinned version.
    struct Meta: Equatable {
        var version: Version
        var epoch: Int64
        var schemaVersion: Int64
        var schemaHash: Int64
        var format: Int64
    }

    // Selects `*`, because the column with the format number is called `format` in files of format 1, and `file_format`
    // in all later formats. It was renamed so that programs of format 1 cannot read newer files.
    private static let selectMeta = "SELECT * FROM martlet_meta WHERE id = 1"

    /// Reads the version row.
    ///
    /// - Throws: `.unsupportedFormat` if a newer program has upgraded the file, which can happen while the file is
    ///   open; `.corrupt` if the row is missing, or contains numbers that no program writes.
    static func meta(_ connection: Connection) throws -> Meta {
        let path = connection.options.path
        let statement = try connection.statement(selectMeta)
        guard try statement.step() else {
            throw EngineError.damaged("the version row is missing", path: path)
        }
        defer { statement.reset() }
        let format = statement.integer(3)
        if let error = formatError(for: format, path: path) { throw error }
        let version = statement.integer(1)
        let epoch = statement.integer(2)
        guard statement.columnCount == 7, validNumbers.contains(version), validNumbers.contains(epoch) else {
            throw EngineError.damaged(
                "the version row says version \(version) and epoch \(epoch)", path: path)
        }
        return Meta(
            version: Version(bitPattern: version), epoch: epoch, schemaVersion: statement.integer(4),
            schemaHash: statement.integer(5), format: format)
    }

    // Each write adds at most one, so valid numbers never come near the maximum of `Int64`.
    private static let validNumbers: ClosedRange<Int64> = 1...Int64.max / 2

    /// The error for a file whose format cannot be used. Nil if the format can be used.
    static func formatError(for format: Int64, path: String) -> EngineError? {
        if format < oldestFormat {
            return EngineError.damaged("the file says that it has format \(format)", path: path)
        }
        guard format > newestFormat else { return nil }
        return EngineError(
            .unsupportedFormat, path: path,
            "the file has format \(format) and this version of Martlet reads formats \(oldestFormat) to \(newestFormat); "
                + "nothing was written; use a newer Martlet")
    }

    /// The object types of the file, each with its number.
    ///
    /// - Parameters:
    ///   - checkingNames: false while types are being renamed. The name in the facts may then differ from the name of
    ///     the entry in the catalog.
    ///   - known: the types that were already parsed. The keys are the texts of their schema facts.
    static func types(
        _ connection: Connection, checkingNames: Bool = true, known: [String: ObjectTypeSchema] = [:]
    ) throws -> [(id: TableID, type: ObjectTypeSchema)] {
        let statement = try connection.statement("SELECT id, name, facts FROM martlet_types ORDER BY id")
        var types: [(TableID, ObjectTypeSchema)] = []
        while try statement.step() {
            let name = statement.text(1)
            let facts = statement.text(2)
            guard let type = known[facts] ?? SchemaFactsParser.storedType(facts), type.name == name || !checkingNames
            else {
                statement.reset()
                throw EngineError.damaged(
                    "the catalog entry of type '\(name)' cannot be read", path: connection.options.path)
            }
            types.append((TableID(statement.integer(0)), type))
        }
        return types
    }

    /// The version row and the object types of one snapshot. The snapshot stays pinned: the transaction remains open.
    static func contents(_ connection: Connection, known: [String: ObjectTypeSchema]) throws -> (
        meta: Meta, types: [(id: TableID, type: ObjectTypeSchema)]
    ) {
        try connection.run("BEGIN")
        return (try meta(connection), try types(connection, known: known))
    }
}
