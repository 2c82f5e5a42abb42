/// The names of the write-ahead logs that belong to a database file. They are in 20 bytes of the header of the file.
/// The name of a log is the pair of salts in the header of the log. SQLite chooses new salts for each log.
package struct RecordedLogNames: Equatable, Sendable {
    /// The name of the log that contains the newest commits of the file. After that log was copied into the file and
    /// truncated, this is a random number.
    package let current: UInt64
    /// The name of the log before the current log. This log has been copied into the file completely. Zero if there was
    /// no such log.
    package let previous: UInt64

    /// Decodes the bytes 72 to 91 of the file, whose layout `cmartlet_log_vfs.h` defines. Nil if they contain no names.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count == 20, bytes.suffix(4).elementsEqual("MRTL".utf8) else { return nil }
        current = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        previous = bytes.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
