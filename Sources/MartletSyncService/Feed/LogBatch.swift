package import MartletSyncProtocol

/// The reason why the changes after a cursor cannot be read.
package enum LogReaderError: Error, Sendable, Equatable {
    /// The cursor belongs to another database, is older than the log, or is newer than the database.
    case unknownCursor
    /// The service has lost its connection to the database, and has not loaded the catalog again yet.
    case interrupted
    /// Another schema was deployed. The caller has to load the catalog again.
    case schemaChanged
    /// The changes for one client need more memory than `MemoryLimits.clientBytes`.
    case tooManyChanges
}

/// An entry of the log as it was read.
package struct LoggedEntry: Sendable {
    /// Nil if the entry only acknowledges an upload that names no object, or if the type of the object was removed from
    /// the schema.
    package let entry: LogEntry?
    package let origin: LogEntry.Origin?
    /// The number of the transaction that has written the entry.
    package let transaction: UInt64
    /// The size of the row images of the entry.
    package let bytes: Int

    package init(_ entry: LogEntry?, origin: LogEntry.Origin?, transaction: UInt64, bytes: Int) {
        (self.entry, self.origin, self.transaction, self.bytes) = (entry, origin, transaction, bytes)
    }
}

/// The changes between two cursors.
package struct LogBatch: Sendable {
    /// The cursor after the changes.
    package var cursor: SyncCursor
    /// The entries in the order of the log. The entries of one object are in the order in which they were made.
    package var entries: [LogEntry]
    /// For each client with uploads between the cursors, the number of the newest of these uploads.
    package var uploads: [UInt64: UInt64]
    /// True if `entries` is empty because the entries need more memory than `MemoryLimits.feedBytes`.
    package var isTooLarge = false

    package init(cursor: SyncCursor, entries: [LogEntry] = [], uploads: [UInt64: UInt64] = [:]) {
        self.cursor = cursor
        self.entries = entries
        self.uploads = uploads
    }
}

/// The maximum total size of the log entries that an instance of the service keeps in memory. The size is counted in
/// bytes of row images. In memory, an entry needs several times the size of its images.
package struct MemoryLimits: Sendable {
    /// The entries of one reading of the log. If they exceed the limit, each session reads the log itself, and keeps
    /// only the entries that concern its client.
    package var feedBytes = 32 << 20
    /// The entries that one client must get. If they exceed the limit, the client loads its data again.
    package var clientBytes = 64 << 20

    package init() {}
}
