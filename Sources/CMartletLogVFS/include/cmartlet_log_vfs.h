/*
 * A VFS that makes a database file name the write-ahead log that continues it.
 *
 * SQLite distinguishes its logs by the salts in their header: a random value, renewed with each log. The database file does not
 * know them, so that SQLite reads any log beside it into it, also into a backup that was copied over it. This VFS, which
 * stands over another one, writes the salts of a log into the header of the database file before the log begins: bytes
 * 72 to 91, which SQLite leaves alone. A checkpoint, which writes the first page anew, keeps them.
 *
 *   72  8 bytes   the salts of the log that continues the file
 *   80  8 bytes   the salts of the log before it, all of which is in the file
 *   88  4 bytes   "MRTL"
 *
 * The header names no SQLite type, so that Swift sees SQLite through one module only. `database` is a `sqlite3 *`.
 */
#ifndef CMARTLET_LOG_VFS_H
#define CMARTLET_LOG_VFS_H

#include <stdbool.h>
#include <stdint.h>

/* The name of the VFS over the one called `base` (NULL: SQLite's default); NULL when it cannot be made. */
const char *cmartlet_log_vfs(const char *base);

/* What the index of the log says, which all processes that have the file open share. */
typedef struct CMartletLogState {
    uint32_t frames;  /* the length of the log */
    uint32_t copied;  /* how many of its frames are in the database file */
    uint64_t salts;   /* the first salt in the upper half; zero when no log has begun since the index was made */
} CMartletLogState;

/* False when the connection has not read the file yet, or when the index is being written just now. */
bool cmartlet_log_state(void *database, CMartletLogState *state);

/* The salts of the log on disk, read without SQLite's index, if there is a log that SQLite would read. An SQLite result code. */
int cmartlet_log_on_disk(void *database, bool *is_log, uint64_t *salts);

/* Makes the database file name a log, durably where `syncs` says so. For the holder of the write lock. An SQLite result code. */
int cmartlet_log_mark(void *database, uint64_t salts, bool syncs);

/* Cuts the log to nothing, or deletes it. For logs that nobody reads. An SQLite result code. */
int cmartlet_log_cut(void *database);
int cmartlet_log_delete(void *database);

/* True when the path of the database file, or of its log, leads elsewhere by now, or nowhere. */
bool cmartlet_file_is_moved(void *database);
bool cmartlet_log_is_moved(void *database);

#endif
