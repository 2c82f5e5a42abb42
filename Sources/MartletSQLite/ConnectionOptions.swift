/// How a connection opens its file and what it allows.
package struct ConnectionOptions: Sendable {
    package var path: String
    package var isReadOnly = false
    package var createsFile = true
    /// The VFS to use; nil for SQLite's default.
    package var vfsName: String?
    /// True if the connection writes the name of the log into the database file, so that the log is never read into
    /// another file.
    package var recordsLogName = true
    /// `PRAGMA synchronous`: `FULL`, `NORMAL` or `OFF`.
    package var synchronous = "FULL"
    /// Milliseconds to wait for a lock that another process holds.
    package var busyTimeoutMilliseconds = 30_000
    /// Kilobytes of page cache.
    package var cacheKilobytes = 16_384

    /// The size in bytes to which SQLite truncates the file of the write-ahead log when a new log begins in it.
    package static let journalSizeLimitBytes = 67_108_864

    package init(path: String) { self.path = path }
}
