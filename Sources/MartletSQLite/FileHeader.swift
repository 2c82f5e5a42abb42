import CMartletSQLite

/// Values from the first 100 bytes of a database file. The log may contain newer values. The format:
/// https://sqlite.org/fileformat2.html#the_database_header
package struct FileHeader: Equatable {
    package let isWriteAheadLogged: Bool
    package let userVersion: Int64
    package let applicationID: Int64
    /// The names of the logs that belong to the file. Nil if the header contains no names. Martlet's VFS for logs
    /// writes them into the header. Other SQLite programs do not write them.
    package let logNames: RecordedLogNames?
    /// The change counter, the page count, and the change counter for which the page count is valid. A checkpoint
    /// changes these numbers. They are used only to compare two headers.
    private let counts: [UInt8]

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 100, bytes.starts(with: "SQLite format 3\0".utf8) else { return nil }
        isWriteAheadLogged = bytes[18] == 2 && bytes[19] == 2
        userVersion = Self.integer(bytes[60..<64])
        applicationID = Self.integer(bytes[68..<72])
        logNames = RecordedLogNames(bytes[72..<92])
        counts = Array(bytes[24..<32]) + bytes[92..<96]
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> Int64 {
        Int64(Int32(bitPattern: bytes.reduce(0) { $0 << 8 | UInt32($1) }))
    }
}

extension Connection {
    /// The header of the file on disk, read without a transaction. Nil if the file is not a database or cannot be read.
    package func fileHeader() -> FileHeader? { try? readFileHeader() }

    /// The header of the file on disk, read without a transaction. Nil if the file is not a database.
    package func readFileHeader() throws(SQLiteError) -> FileHeader? {
        var bytes = [UInt8](repeating: 0, count: 100)
        let code = cmartlet_read_header(handle, &bytes, 100)
        if code & 0xff == SQLITE_IOERR && SQLiteError(extendedCode: code, message: "").isFileTooShort { return nil }
        try check(code)
        return FileHeader(bytes)
    }
}
