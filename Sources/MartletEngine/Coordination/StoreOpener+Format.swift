import MartletSQLite

/// Bringing a file of an older format up to date.
extension StoreOpener {
    /// Upgrades a file when it is opened for writing, as one transaction. Programs of the older format that have it open
    /// cannot read the version row any more, which every write begins with; so they fail before they change anything.
    func upgradeFormat(_ connection: Connection, _ writeLock: WriteLock) throws {
        guard !options.isReadOnly, try connection.integer("PRAGMA user_version") ?? 0 < Catalog.format else { return }
        try writeLock.acquire()
        defer { writeLock.release() }
        if try connection.value("PRAGMA journal_mode") != .text("wal") { try makeLog(connection) }
        // The log that the upgrade is written to, perhaps an older one, is marked first: a file of the new format without a
        // mark is continued by none.
        _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
        if let log = connection.logState, log.frames > 0 {
            try connection.markFile(log.name)
            writeLock.note(log: log.name)
        }
        try transaction(on: connection) {
            // Another process may have been here.
            guard try connection.integer("PRAGMA user_version") ?? 0 < Catalog.format else { return }
            try checkFormat(Catalog.meta(connection).format)
            try connection.execute(
                """
                ALTER TABLE martlet_meta RENAME COLUMN format TO file_format; \
                UPDATE martlet_meta SET file_format = \(Catalog.format); PRAGMA user_version = \(Catalog.format)
                """)
        }
        connection.finalizeStatements()
    }
}
