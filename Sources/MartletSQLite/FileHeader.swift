import CMartletSQLite

/// What the first 100 bytes of a database file say, which a log may have newer values of.
/// The format: https://sqlite.org/fileformat2.html#the_database_header
package struct FileHeader: Equatable {
    package let isWriteAheadLogged: Bool
    package let userVersion: Int64
    package let applicationID: Int64

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 100, bytes.starts(with: "SQLite format 3\0".utf8) else { return nil }
        isWriteAheadLogged = bytes[18] == 2 && bytes[19] == 2
        userVersion = Self.integer(bytes[60..<64])
        applicationID = Self.integer(bytes[68..<72])
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> Int64 {
        Int64(Int32(bitPattern: bytes.reduce(0) { $0 << 8 | UInt32($1) }))
    }
}

extension Connection {
    /// The header of the file on disk, read without a transaction; nil when there is none.
    package func fileHeader() -> FileHeader? {
        var bytes = [UInt8](repeating: 0, count: 100)
        guard cmartlet_read_header(handle, &bytes, 100) == SQLITE_OK else { return nil }
        return FileHeader(bytes)
    }
}
