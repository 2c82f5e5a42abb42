/* A VFS that stores, in a database file, the name of the write-ahead log that belongs to the file.
 *
 * SQLite distinguishes its logs by the salts in their headers: two numbers of 32 bits, which SQLite changes for each
 * log. SQLite does not store the salts in the database file. It therefore reads any log that it finds beside a database
 * file, even if a backup was copied over the file and the log belongs to the old file.
 *
 * This VFS wraps another VFS. Before a log begins, this VFS writes the salts of the log into bytes 72 to 91 of the
 * database file. SQLite does not use these bytes of the header. This VFS preserves them when a checkpoint rewrites the
 * first page.
 *
 *     72  8 bytes   the salts of the current log; a random number after that log was copied and truncated
 *     80  8 bytes   the salts of the previous log, which was copied into the file completely
 *     88  4 bytes   "MRTL"
 *
 * The salts of a log are called its name, and these 20 bytes the recorded log names of the file.
 *
 * This C header file uses no SQLite types, because Swift code imports SQLite only as `CMartletSQLite`. `database` is a
 * `sqlite3 *`. */
#ifndef CMARTLET_LOG_VFS_H
#define CMARTLET_LOG_VFS_H

#include <stdbool.h>
#include <stdint.h>

/* The name of the VFS that wraps `base` (NULL: SQLite's default). NULL if it cannot be created. */
const char *cmartlet_log_vfs(const char *base);

/* The state of the log, read from the WAL index, which is shared memory of all processes that have the file open. */
typedef struct CMartletLogState {
    uint32_t frames;  /* the length of the log */
    uint32_t copied;  /* how many frames of the log are in the database file */
    uint64_t salts;   /* the first salt in the upper half; zero if no log has begun since the index was created */
} CMartletLogState;

/* False if the connection has not read the file yet, if there is no log, or if another connection is writing the
   index. */
bool cmartlet_log_state(void *database, CMartletLogState *state);

/* The salts of the log on disk, read without SQLite's index. `has_valid_log` is false if there is no log that
   SQLite would read. Returns an SQLite result code. */
int cmartlet_log_on_disk(void *database, bool *has_valid_log, uint64_t *salts);

/* Writes the name of a log into the database file, durably if `syncs` is true. The caller holds the write lock.
   Returns an SQLite result code. */
int cmartlet_log_record_name(void *database, uint64_t salts, bool syncs);

/* Makes the length and the content of the log durable. Returns an SQLite result code. */
int cmartlet_log_sync(void *database);

/* Truncates the log to zero bytes, or deletes the log. No connection may be reading the log. Both functions return
   SQLite result codes. */
int cmartlet_log_truncate(void *database);
int cmartlet_log_delete(void *database);

/* True if the path of the database file, its log or the index of its log now refers to another file or to none. */
bool cmartlet_file_is_moved(void *database);
bool cmartlet_log_is_moved(void *database);
bool cmartlet_index_is_moved(void *database);

/* True if reading the file failed because the `-shm` file at its path belongs to another database that is still open.
   This happens if a file is moved to the path of an open database. */
bool cmartlet_index_is_foreign(void *database);

/* True if the last frame of the log that the connection has open is not the one that the index describes, because the
   log was truncated or overwritten. The caller holds the write lock. */
bool cmartlet_log_is_damaged(void *database);

/* Locks the database file exclusively and returns true. Returns false if another open connection, of any process, has
   read the file: that connection holds a shared lock. The caller's connection must not have read the file. The caller
   must unlock the file. */
bool cmartlet_file_lock_if_unused(void *database);
void cmartlet_file_unlock(void *database);

#endif
