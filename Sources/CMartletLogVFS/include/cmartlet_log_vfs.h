/* A VFS that stores, in a database file, the name of the write-ahead log that belongs to the file.
 *
 * SQLite distinguishes its logs by the salts in their headers: two numbers of 32 bits, which SQLite changes for each
 * log. SQLite does not store the salts in the database file. Therefore SQLite reads any log that it finds beside a
 * database file. For example, if a backup was copied over the file, SQLite still reads the log of the overwritten file.
 *
 * This VFS wraps another VFS. Before a log begins, this VFS writes the salts of the log into bytes 72 to 91 of the
 * database file. SQLite does not use these bytes of the header. This VFS preserves them when a checkpoint rewrites the
 * first page.
 *
 *     72  8 bytes   the salts of the current log, or a random number after this log was copied and truncated
 *     80  8 bytes   the salts of the previous log; all frames of that log were copied into the file
 *     88  4 bytes   "MRTL"
 *
 * The salts of a log are called its name. These 20 bytes are called the recorded log names of the file.
 *
 * This C header file uses no SQLite types, because Swift code imports SQLite only as `CMartletSQLite`. `database` is a
 * `sqlite3 *`. */
#ifndef CMARTLET_LOG_VFS_H
#define CMARTLET_LOG_VFS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the name of a VFS that wraps the VFS with the name `base`. The first call creates the wrapping VFS. If `base`
   is NULL, the wrapped VFS is SQLite's default VFS. Returns NULL if the wrapping VFS cannot be created. */
const char *cmartlet_log_vfs(const char *base);

/* The state of the log. It is read from the WAL index (the `-shm` file), which all processes that have the database
   open map into their memory. */
typedef struct CMartletLogState {
    uint32_t frames;  /* the number of frames in the log */
    uint32_t copied;  /* the number of these frames that checkpoints have copied into the database file */
    uint64_t salts;   /* the first salt in the upper half; zero if no log has begun since the index was created */
} CMartletLogState;

/* Reads the state of the log into `state`. Returns false if the connection has not read the file yet, if there is no
   log, or if another connection is writing the WAL index. */
bool cmartlet_log_state(void *database, CMartletLogState *state);

/* Reads the salts from the header of the log on disk, without the WAL index. Sets `has_valid_log` to false if there is
   no log that SQLite would read. Returns an SQLite result code. */
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

/* The first function checks the path of the database file, the second the path of the log, and the third the path of
   the WAL index. They return true if the path no longer refers to the file that the connection has open. */
bool cmartlet_file_is_moved(void *database);
bool cmartlet_log_is_moved(void *database);
bool cmartlet_index_is_moved(void *database);

/* True if a read of the database failed because the `-shm` file beside it belongs to another database that is still
   open. This happens if a database file is moved to the path of another database that is open. */
bool cmartlet_index_is_foreign(void *database);

/* True if the log that the connection has open was truncated or overwritten. The log then does not contain the last
   frame that the WAL index describes. The caller holds the write lock. */
bool cmartlet_log_is_damaged(void *database);

/* Locks the database file exclusively and returns true. Returns false, and leaves the file unlocked, if another open
   connection of any process has read the file. Such a connection holds a shared lock. The caller's connection must not
   have read the file. After `true`, the caller must call `cmartlet_file_unlock`. */
bool cmartlet_file_lock_if_unused(void *database);
void cmartlet_file_unlock(void *database);

#endif
