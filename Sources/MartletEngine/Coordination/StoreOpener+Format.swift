import MartletSQLite
import MartletValues

/// Upgrades files of an older format.
extension StoreOpener {
    /// Upgrades a file in one transaction when it is opened for writing. Programs of the older format that have the
    /// file open can no longer read the version row. Every write begins by reading it, so they fail before they change
    /// anything.
    func upgradeFormat(_ connection: Connection, _ writeLock: WriteLock) throws {
        guard !options.isReadOnly, try connection.integer("PRAGMA user_version") ?? 0 < Catalog.format else { return }
        try writeLock.acquire()
        defer { writeLock.release() }
        try connection.requireUnmoved()
        if try connection.value("PRAGMA journal_mode") != .text("wal") { try enableWriteAheadLog(connection) }
        // The upgrade may be appended to an existing log. The name of this log is written to the file first, because in
        // the new format a log is read only if the file contains its name.
        _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
        if let log = connection.logState, log.frames > 0 {
            try connection.recordLogName(log.name)
            writeLock.record(log: log.name)
        }
        try transaction(on: connection) {
            // Another process may have upgraded the file since the first check.
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
