import CMartletSQLite
import MartletValues

extension Connection {
    /// The size of the file in bytes, and the size of its pages that are in use.
    package func sizes() throws(SQLiteError) -> (total: Int, used: Int) {
        let page = try integer("PRAGMA page_size") ?? 0
        let count = try integer("PRAGMA page_count") ?? 0
        let free = try integer("PRAGMA freelist_count") ?? 0
        return (Int(page * count), Int(page * (count - free)))
    }

    /// Rewrites the database without free pages. If `path` is nil, rewrites the file in place, in one transaction.
    /// Otherwise writes a new file at `path`. Cannot be called inside a transaction.
    package func vacuum(into path: String? = nil) throws(SQLiteError) {
        // `VACUUM` attaches its target database. With `temp_store = MEMORY`, this target would be a copy of the whole
        // database in memory.
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
        defer { sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0) }
        try execute("PRAGMA temp_store = FILE")
        defer { try? execute("PRAGMA temp_store = MEMORY") }
        guard let path else { return try execute("VACUUM") }
        // SQLite opens a plain path with the VFS of this connection. A URI can name another VFS.
        let needsOtherVFS = MemoryFiles.contains(path) != MemoryFiles.contains(options.path)
        try run("VACUUM INTO ?1", [.text(needsOtherVFS ? MemoryFiles.uri(path) : path)])
    }
}
