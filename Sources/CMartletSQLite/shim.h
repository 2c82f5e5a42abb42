#ifndef CMARTLET_SQLITE_SHIM_H
#define CMARTLET_SQLITE_SHIM_H
#include <sqlite3.h>

enum {
    CMARTLET_CONSTRAINT_UNIQUE = SQLITE_CONSTRAINT_UNIQUE,
    CMARTLET_CONSTRAINT_PRIMARYKEY = SQLITE_CONSTRAINT_PRIMARYKEY,
    CMARTLET_CONSTRAINT_ROWID = SQLITE_CONSTRAINT_ROWID,
    CMARTLET_IOERR_FSYNC = SQLITE_IOERR_FSYNC,
    CMARTLET_IOERR_DIR_FSYNC = SQLITE_IOERR_DIR_FSYNC
};

/* Swift cannot call variadic C functions, and does not import the constants SQLITE_STATIC and SQLITE_TRANSIENT. So
   these functions wrap the functions of SQLite that need them. SQLite binds NULL if the pointer is null, and Swift may
   pass a null pointer for an empty text or blob. In that case these functions pass the address of an empty string. */
static inline int cmartlet_db_config_int(sqlite3 *db, int op, int value) {
    return sqlite3_db_config(db, op, value, (int *)0);
}
static inline int cmartlet_bind_text_static(sqlite3_stmt *s, int i, const char *p, int n) {
    return sqlite3_bind_text(s, i, p ? p : "", n, SQLITE_STATIC);
}
static inline int cmartlet_bind_text_transient(sqlite3_stmt *s, int i, const char *p, int n) {
    return sqlite3_bind_text(s, i, p ? p : "", n, SQLITE_TRANSIENT);
}
static inline int cmartlet_bind_blob_static(sqlite3_stmt *s, int i, const void *p, int n) {
    return sqlite3_bind_blob(s, i, p ? p : "", n, SQLITE_STATIC);
}
static inline int cmartlet_bind_blob_transient(sqlite3_stmt *s, int i, const void *p, int n) {
    return sqlite3_bind_blob(s, i, p ? p : "", n, SQLITE_TRANSIENT);
}
/* Reads the first bytes of the database file from disk, without a transaction. The function uses the descriptor that
   SQLite has open, because opening and closing the file a second time would drop SQLite's locks. If the file has fewer
   than `count` bytes, the rest of `bytes` is set to zero, and the result is SQLITE_IOERR_SHORT_READ. */
static inline int cmartlet_read_header(sqlite3 *db, void *bytes, int count) {
    sqlite3_file *file = 0;
    int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK) return code;
    if (!file || !file->pMethods) return SQLITE_CANTOPEN;
    return file->pMethods->xRead(file, bytes, count, 0);
}
#endif
