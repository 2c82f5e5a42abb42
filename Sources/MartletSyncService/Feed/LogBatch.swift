package import MartletSyncProtocol

/// Why the changes after a cursor cannot be read.
package enum LogReaderError: Error, Sendable, Equatable {
    /// The cursor belongs to another database, is older than the log, or is newer than the database.
    case unknownCursor
    /// Another schema was deployed. The caller has to load the catalog again.
    case schemaChanged
}

/// The changes between two cursors.
package struct LogBatch: Sendable {
    /// The cursor after the changes.
    package var cursor: SyncCursor
    /// In the order of the log. The entries of one object are in the order in which they were made.
    package var entries: [LogEntry]
    /// The newest upload of each client that was stored between the cursors.
    package var uploads: [UInt64: UInt64]

    package init(cursor: SyncCursor, entries: [LogEntry] = [], uploads: [UInt64: UInt64] = [:]) {
        self.cursor = cursor
        self.entries = entries
        self.uploads = uploads
    }
}
