/// The names of the write-ahead logs that belong to a database file: 20 bytes of the header of the file. The name of a
/// log is the pair of salts in its header. SQLite chooses new salts for each log.
package struct RecordedLogNames: Equatable, Sendable {
    /// The name of the log that contains the newest commits of the file; a random number after that log was copied into
    /// the file and truncated.
    package let current: UInt64
    /// The name of the log before the current one, which has been copied into the file completely; zero for none.
    package let previous: UInt64

    /// Reads bytes 72 to 91 of the file, in the layout of `cmartlet_log_vfs.h`; nil if they contain no names.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count == 20, bytes.suffix(4).elementsEqual("MRTL".utf8) else { return nil }
        current = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        previous = bytes.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
