import CMartletSQLite

/// Runs SQL statements on a closed file while its tables are not strict, so that columns accept values of all types. A
/// failing disk or another program may cause such values.
package func writeUnchecked(_ path: String, _ sql: String) throws {
    try runUnchecked(
        path,
        """
        CREATE TABLE unchecked_schema AS SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%STRICT%';
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(replace(sql, ') STRICT, WITHOUT', ') WITHOUT'), ') STRICT', ')')
            WHERE type = 'table';
        """)
    try runUnchecked(path, sql)
    try runUnchecked(
        path,
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema AS m SET sql = (SELECT s.sql FROM unchecked_schema s WHERE s.name = m.name)
            WHERE m.type = 'table' AND m.name IN (SELECT name FROM unchecked_schema);
        PRAGMA writable_schema = OFF;
        DROP TABLE unchecked_schema;
        """)
}

/// An error of SQLite inside `writeUnchecked`.
package struct UncheckedWriteError: Error {
    package let message: String
}

private func runUnchecked(_ path: String, _ sql: String) throws {
    var handle: OpaquePointer?
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
        throw UncheckedWriteError(message: "'\(path)' cannot be opened")
    }
    defer { sqlite3_close(handle) }
    _ = cmartlet_db_config_int(handle, SQLITE_DBCONFIG_DEFENSIVE, 0)
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
        throw UncheckedWriteError(message: String(cString: sqlite3_errmsg(handle)) + " in " + sql)
    }
}
