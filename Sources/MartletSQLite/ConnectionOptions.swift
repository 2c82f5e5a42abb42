/// How a connection opens its file and what it allows.
package struct ConnectionOptions: Sendable {
    package var path: String
    package var isReadOnly = false
    package var createsFile = true
    /// The VFS to use. Nil for SQLite's default.
    package var vfsName: String?
    /// True if the connection writes the name of the log into the database file, so that the log is never read into
    /// another file.
    package var recordsLogName = true
    /// The value of `PRAGMA synchronous`: `FULL`, `NORMAL` or `OFF`.
    package var synchronous = "FULL"
    /// The number of milliseconds to wait for a lock that another connection holds.
    package var busyTimeoutMilliseconds = 30_000
    /// The size of the page cache in KiB.
    package var cacheKilobytes = 16_384

    /// When a new write-ahead log begins and the log file is longer than this, SQLite truncates the file to this size
    /// in bytes.
    package static let journalSizeLimitBytes = 67_108_864

    package init(path: String) { self.path = path }
}
