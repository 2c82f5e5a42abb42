import MartletSQLite
import MartletValues

/// Upgrades files of an older format, and makes files synchronized.
extension StoreOpener {
    /// Upgrades a file in one transaction when it is opened for writing. Afterwards, programs of the older format that
    /// have the file open can no longer read the version row, or they find an unknown format in it. Every write first
    /// reads the version row, so these programs fail before they change anything.
    func upgradeFormat(_ connection: Connection, _ writeLock: WriteLock) throws {
        guard !options.isReadOnly, try connection.integer("PRAGMA user_version") ?? 0 < options.format else { return }
        try writeLock.acquire()
        defer { writeLock.release() }
        try connection.requireUnmoved()
        if try connection.value("PRAGMA journal_mode") != .text("wal") { try enableWriteAheadLog(connection) }
        // The upgrade may be appended to an existing log. Therefore the name of this log is written to the file first.
        // In the new format, a log is read only if the file contains its name. The query reads the file, so that
        // `logState` is available.
        _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
        let isFirstFormat = try connection.integer("PRAGMA user_version") ?? 0 < Catalog.format
        if isFirstFormat, let log = connection.logState, log.frames > 0 {
            try connection.recordLogName(log.name)
            writeLock.record(log: log.name)
        }
        try transaction(on: connection) {
            // Another process may have upgraded the file since the first check.
            let format = try connection.integer("PRAGMA user_version") ?? 0
            guard format < options.format else { return }
            try checkFormat(Catalog.meta(connection).format)
            if format < Catalog.format {
                try connection.execute(
                    """
                    ALTER TABLE martlet_meta RENAME COLUMN format TO file_format; \
                    UPDATE martlet_meta SET file_format = \(Catalog.format); PRAGMA user_version = \(Catalog.format)
                    """)
            }
            if options.format == Catalog.syncedFormat { try makeSynced(connection) }
        }
        connection.finalizeStatements()
    }

    // Makes a file synchronized. Throws if the file already has objects of synchronized types. These objects have no
    // entry in the outbox, so they would never be uploaded.
    private func makeSynced(_ connection: Connection) throws {
        let synced = options.sync?.types ?? []
        let used = try Catalog.types(connection).map(\.type.name).filter { name in
            guard synced.contains(name) else { return false }
            return try connection.integer("SELECT 1 FROM \(SQLText.identifier(name)) LIMIT 1") == 1
        }
        guard used.isEmpty else {
            throw EngineError(
                .incompatibleConfiguration, path: path,
                "the file has objects of '\(used.joined(separator: "', '"))' that were written without synchronization, "
                    + "so they would never be uploaded; nothing was changed; open the file without synchronization, or "
                    + "choose another path")
        }
        try SyncCatalog.create(connection)
    }
}
