import CMartletSQLite

extension Connection {
    /// Bytes of the file and those of its pages that hold something.
    package func sizes() throws(SQLiteError) -> (total: Int, used: Int) {
        let page = try integer("PRAGMA page_size") ?? 0
        let count = try integer("PRAGMA page_count") ?? 0
        let free = try integer("PRAGMA freelist_count") ?? 0
        return (Int(page * count), Int(page * (count - free)))
    }

    /// Writes the file anew without gaps: in place, as one transaction, or to a new file, as the newest version has it.
    /// Not inside a transaction.
    package func vacuum(into path: String? = nil) throws(SQLiteError) {
        // SQLite attaches the file it writes to, which would be as large as this one in memory.
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
        defer { sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0) }
        try execute("PRAGMA temp_store = FILE")
        defer { try? execute("PRAGMA temp_store = MEMORY") }
        guard let path else { return try execute("VACUUM") }
        // SQLite looks for the new file in the VFS of this one.
        let isElsewhere = MemoryFiles.contains(path) != MemoryFiles.contains(options.path)
        try run("VACUUM INTO ?1", [.text(isElsewhere ? MemoryFiles.uri(path) : path)])
    }
}
