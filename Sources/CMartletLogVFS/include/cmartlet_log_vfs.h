/* A VFS that stores, in a database file, the name of the write-ahead log that belongs to the file.
 *
 * SQLite distinguishes its logs by the salts in their header: a random value, renewed with each log. The database
 * file does not contain them. SQLite therefore reads any log that lies beside a file, even if a backup was copied
 * over the file. This VFS wraps another one. Before a log begins, it writes the salts of the log into bytes 72 to 91
 * of the header of the database file, which SQLite does not use. A checkpoint rewrites the first page, and this VFS
 * keeps these bytes.
 *
 *     72  8 bytes   the salts of the log that continues the file
 *     80  8 bytes   the salts of the previous log, which was copied into the file completely
 *     88  4 bytes   "MRTL"; these 20 bytes are the mark of the file
 *
 * This C header uses no SQLite type: Swift sees SQLite through one module only. `database` is a `sqlite3 *`. */
#ifndef CMARTLET_LOG_VFS_H
#define CMARTLET_LOG_VFS_H

#include <stdbool.h>
#include <stdint.h>

/* The name of the VFS that wraps `base` (NULL: SQLite's default). NULL if it cannot be created. */
const char *cmartlet_log_vfs(const char *base);

/* The state of the log according to its index, which all processes that have the file open share. */
typedef struct CMartletLogState {
    uint32_t frames;  /* the length of the log */
    uint32_t copied;  /* how many of its frames are in the database file */
    uint64_t salts;   /* the first salt in the upper half; zero when no log has begun since the index was made */
} CMartletLogState;

/* False if the connection has not read the file yet, or another connection is writing the index. */
bool cmartlet_log_state(void *database, CMartletLogState *state);

/* The salts of the log on disk, read without SQLite's index. `is_log` is false if there is no log that SQLite would
   read. Returns an SQLite result code. */
int cmartlet_log_on_disk(void *database, bool *is_log, uint64_t *salts);

/* Writes the name of a log into the database file, durably if `syncs` is true. The caller holds the write lock.
   Returns an SQLite result code. */
int cmartlet_log_mark(void *database, uint64_t salts, bool syncs);

/* Truncates the log to zero bytes, or deletes it. No connection may be reading it. Return SQLite result codes. */
int cmartlet_log_truncate(void *database);
int cmartlet_log_delete(void *database);

/* True if the path of the database file, or of its log, refers to another file now, or to none. */
bool cmartlet_file_is_moved(void *database);
bool cmartlet_log_is_moved(void *database);

#endif
