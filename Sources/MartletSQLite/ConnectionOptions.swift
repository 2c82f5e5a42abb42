/// How a connection opens its file and what it allows.
package struct ConnectionOptions: Sendable {
    package var path: String
    package var isReadOnly = false
    package var createsFile = true
    /// The VFS to use; nil for SQLite's default.
    package var vfsName: String?
    /// The database file names the log that continues it, so that a log is never read into another file.
    package var marksLog = true
    /// `PRAGMA synchronous`: `FULL`, `NORMAL` or `OFF`.
    package var synchronous = "FULL"
    /// Milliseconds to wait for a lock that another process holds.
    package var busyTimeoutMilliseconds = 30_000
    /// Kilobytes of page cache.
    package var cacheKilobytes = 16_384

    /// Bytes that the write-ahead log is cut to when it starts again.
    package static let logLimit = 67_108_864

    package init(path: String) { self.path = path }
}
