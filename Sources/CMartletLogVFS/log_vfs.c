#include "cmartlet_log_vfs.h"
#include "log_format.h"
#include "log_names.h"
#include "open_index.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_SALTS_OFFSET = 16 };

typedef struct LogVFS {
    sqlite3_vfs vfs;
    char *base_name; /* NULL if SQLite's default VFS is wrapped */
    char *name;
    struct LogVFS *next;
} LogVFS;

typedef struct LogVFSFile {
    sqlite3_file file;
    sqlite3_file *real;
    /* For a log: the database file, and whether a log name was written to the database file since its last sync. */
    struct LogVFSFile *database;
    bool is_log_name_unsynced;
    bool is_database;
    /* For a database file: the log that the same connection has open, and whether check_log_name has found the name
       of this log in the file. */
    struct LogVFSFile *log;
    bool has_seen_log_name;
    /* For a log and for a database file: the path, and the device and inode of the opened file. `identity` is valid
       only if `has_identity` is true. */
    const char *path;
    bool has_identity;
    CMartletFileID identity;
    /* For a database file: the WAL index (the `-shm` file) that this process uses for the file. NULL before the index
       is mapped. */
    CMartletOpenIndex *index;
    /* For a database file: whether the index contains the mark of this database, and whether the index at its path
       belongs to another database. */
    bool is_index_verified, is_index_foreign;
} LogVFSFile;

static sqlite3_file *real(sqlite3_file *file) {
    return ((LogVFSFile *)file)->real;
}

/* ---- Checking the log name -------------------------------------------------------------------- */

/* Called before each write of a page to the database file while the log is open. While the log is open, SQLite writes
 * pages of the database file only in a checkpoint. Another program may have overwritten the file since the checkpoint
 * began, for example with a backup. In that case the file is empty or does not contain the name of the log, and this
 * function refuses the write.
 *
 * There is one exception: the header is not an SQLite header, and no earlier check of this connection has found the
 * name. In that case a crash has torn the first page. The function allows the write, because the checkpoint repairs the
 * page from the log. */
static int check_log_name(LogVFSFile *database) {
    uint8_t header[LOG_NAMES_OFFSET + LOG_NAMES_SIZE], salts[SALTS_SIZE];
    sqlite3_file *log = database->log->real;
    int result = log->pMethods->xRead(log, salts, SALTS_SIZE, LOG_SALTS_OFFSET);
    if (result != SQLITE_OK) return result;
    result = database->real->pMethods->xRead(database->real, header, sizeof header, 0);
    if (result != SQLITE_OK) return result == SQLITE_IOERR_SHORT_READ ? SQLITE_IOERR_WRITE : result;
    const uint8_t *names = header + LOG_NAMES_OFFSET;
    bool has_names = cmartlet_are_log_names(names);
    if (has_names && memcmp(names, salts, SALTS_SIZE) == 0) {
        database->has_seen_log_name = true;
        return SQLITE_OK;
    }
    bool is_torn = memcmp(header, "SQLite format 3", 16) != 0;
    return is_torn && !database->has_seen_log_name ? SQLITE_OK : SQLITE_IOERR_WRITE;
}

/* ---- Calls on files -------------------------------------------------------------------------- */

static int file_close(sqlite3_file *file) {
    LogVFSFile *database = ((LogVFSFile *)file)->database;
    if (database && database->log == (LogVFSFile *)file) database->log = NULL;
    return real(file)->pMethods->xClose(real(file));
}

static int file_read(sqlite3_file *file, void *bytes, int amount, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), bytes, amount, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset) {
    LogVFSFile *self = (LogVFSFile *)file;
    if (self->is_database && self->log && amount >= SMALLEST_PAGE) {
        int result = check_log_name(self);
        if (result != SQLITE_OK) return result;
    }
    if (offset == 0 && self->is_database && amount >= SMALLEST_PAGE) {
        return cmartlet_write_first_page(self->real, bytes, amount);
    }
    if (offset == 0 && self->database && amount == LOG_HEADER_SIZE) {
        /* A log begins. Its name is written before its header. If the process ends between the two writes, the log on
           disk is still the previous one. It is still recognized, because the database file contains the names of both
           logs. */
        int result = cmartlet_record_log_name(self->database->real, (const uint8_t *)bytes + 16);
        if (result != SQLITE_OK) return result;
        self->is_log_name_unsynced = true;
    }
    return self->real->pMethods->xWrite(self->real, bytes, amount, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    return real(file)->pMethods->xTruncate(real(file), size);
}

static int file_sync(sqlite3_file *file, int flags) {
    LogVFSFile *self = (LogVFSFile *)file;
    if (self->is_log_name_unsynced) {
        sqlite3_file *database = self->database->real;
        int result = database->pMethods->xSync(database, flags);
        if (result != SQLITE_OK) return result;
        self->is_log_name_unsynced = false;
    }
    return self->real->pMethods->xSync(self->real, flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}

static int file_lock(sqlite3_file *file, int level) {
    return real(file)->pMethods->xLock(real(file), level);
}

static int file_unlock(sqlite3_file *file, int level) {
    return real(file)->pMethods->xUnlock(real(file), level);
}

static int file_check_reserved_lock(sqlite3_file *file, int *is_reserved) {
    return real(file)->pMethods->xCheckReservedLock(real(file), is_reserved);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file) {
    return real(file)->pMethods->xSectorSize(real(file));
}

static int file_device_characteristics(sqlite3_file *file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int refuse_index(LogVFSFile *self, void volatile **address) {
    self->is_index_foreign = true;
    *address = NULL;
    return SQLITE_CANTOPEN;
}

/* Another file may be moved to the path of a database that is in use. The `-shm` and `-wal` files beside that path then
 * still belong to the former database. A log with commits is recognized by its name, but an empty log has no name. So
 * each index that is in use contains the mark of its database, and this function refuses an index with the mark of
 * another database. If no connection uses an index, SQLite truncates the index before it returns the first region. The
 * truncation also removes an old mark. */
static int map_first_region(LogVFSFile *self, int size, int extend, void volatile **address) {
    sqlite3_file *real = self->real;
    int result = real->pMethods->xShmMap(real, 0, size, extend, address);
    bool is_read_only = result == SQLITE_READONLY;
    if (result != SQLITE_OK && !is_read_only) return result;
    if (!self->index) self->index = cmartlet_retain_index(self->path, self->identity);
    /* The address is NULL if the index has no region yet, because no connection has recovered the log. */
    if (!*address) return result;
    self->is_index_verified = cmartlet_mark_index(*address, self->identity, is_read_only);
    return self->is_index_verified ? result : refuse_index(self, address);
}

static int file_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **address) {
    LogVFSFile *self = (LogVFSFile *)file;
    if (region != 0 || self->is_index_verified || !self->has_identity) {
        return self->real->pMethods->xShmMap(self->real, region, size, extend, address);
    }
    if (self->is_index_foreign) return refuse_index(self, address);
    if (self->index) return map_first_region(self, size, extend, address);
    cmartlet_lock_indexes();
    /* SQLite must not open an index that this process uses for another database. Closing the second descriptor of the
       index would release all locks of the process on the index. */
    self->index = cmartlet_retain_index_of_other_database(self->path, self->identity);
    int result = self->index ? refuse_index(self, address) : map_first_region(self, size, extend, address);
    cmartlet_unlock_indexes();
    return result;
}

static int file_shm_lock(sqlite3_file *file, int first, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), first, count, flags);
}

static void file_shm_barrier(sqlite3_file *file) {
    real(file)->pMethods->xShmBarrier(real(file));
}

static int file_shm_unmap(sqlite3_file *file, int delete) {
    LogVFSFile *self = (LogVFSFile *)file;
    cmartlet_lock_indexes();
    cmartlet_release_index(self->index);
    self->index = NULL;
    self->is_index_verified = false;
    int result = self->real->pMethods->xShmUnmap(self->real, delete);
    cmartlet_unlock_indexes();
    return result;
}

static int file_fetch(sqlite3_file *file, sqlite3_int64 offset, int amount, void **address) {
    return real(file)->pMethods->xFetch(real(file), offset, amount, address);
}

static int file_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *address) {
    return real(file)->pMethods->xUnfetch(real(file), offset, address);
}

#define METHODS(version)                                                                           \
    {                                                                                              \
        .iVersion = version, .xClose = file_close, .xRead = file_read, .xWrite = file_write,       \
        .xTruncate = file_truncate, .xSync = file_sync, .xFileSize = file_size,                    \
        .xLock = file_lock, .xUnlock = file_unlock,                                                \
        .xCheckReservedLock = file_check_reserved_lock, .xFileControl = file_control,              \
        .xSectorSize = file_sector_size,                                                           \
        .xDeviceCharacteristics = file_device_characteristics, .xShmMap = file_shm_map,            \
        .xShmLock = file_shm_lock, .xShmBarrier = file_shm_barrier,                                \
        .xShmUnmap = file_shm_unmap, .xFetch = file_fetch, .xUnfetch = file_unfetch,               \
    }

/* One table for each version of the interface. A file gets the table with the version of the wrapped file, because
   SQLite calls a method only if the version of the table contains it. */
static const sqlite3_io_methods methods[] = {METHODS(1), METHODS(2), METHODS(3)};

/* ---- Calls on the VFS ------------------------------------------------------------------------ */

/* The wrapped VFS. It is looked up at each call, because a test may have unregistered it. */
static sqlite3_vfs *base(sqlite3_vfs *vfs) {
    return sqlite3_vfs_find(((LogVFS *)vfs->pAppData)->base_name);
}

/* True if the path of an open file now refers to another file or to none. */
static bool is_moved(sqlite3_file *file) {
    int is_moved = 0;
    int result = file->pMethods->xFileControl(file, SQLITE_FCNTL_HAS_MOVED, &is_moved);
    return result == SQLITE_OK && is_moved;
}

static void note_identity(LogVFSFile *file, const char *path) {
    file->path = path;
    file->has_identity = path && cmartlet_file_id(path, &file->identity) && !is_moved(file->real);
}

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *flags_out) {
    LogVFSFile *self = (LogVFSFile *)file;
    memset(self, 0, sizeof *self);
    sqlite3_vfs *below = base(vfs);
    if (!below || below->szOsFile > vfs->szOsFile - (int)sizeof *self) return SQLITE_CANTOPEN;
    self->real = (sqlite3_file *)(self + 1);
    memset(self->real, 0, (size_t)below->szOsFile);
    int result = below->xOpen(below, path, self->real, flags, flags_out);
    if (result != SQLITE_OK) {
        if (self->real->pMethods) self->real->pMethods->xClose(self->real);
        return result;
    }
    self->is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    if ((flags & SQLITE_OPEN_WAL) && path) {
        self->database = (LogVFSFile *)sqlite3_database_file_object(path);
        self->database->log = self;
    }
    if (self->is_database || self->database) note_identity(self, path);
    int version = self->real->pMethods->iVersion;
    self->file.pMethods = &methods[version < 1 ? 0 : version > 3 ? 2 : version - 1];
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_directory) {
    sqlite3_vfs *below = base(vfs);
    return below ? below->xDelete(below, path, sync_directory) : SQLITE_IOERR_DELETE;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result_out) {
    sqlite3_vfs *below = base(vfs);
    return below ? below->xAccess(below, path, flags, result_out) : SQLITE_IOERR_ACCESS;
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *path, int capacity, char *out) {
    sqlite3_vfs *below = base(vfs);
    return below ? below->xFullPathname(below, path, capacity, out) : SQLITE_CANTOPEN;
}

static int vfs_randomness(sqlite3_vfs *vfs, int amount, char *out) {
    sqlite3_vfs *below = base(vfs);
    return below ? below->xRandomness(below, amount, out) : 0;
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
    sqlite3_vfs *below = base(vfs);
    return below ? below->xSleep(below, microseconds) : 0;
}

static int vfs_current_time(sqlite3_vfs *vfs, double *days) {
    sqlite3_vfs *below = base(vfs);
    return below ? below->xCurrentTime(below, days) : SQLITE_ERROR;
}

static int vfs_current_time_int64(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
    sqlite3_vfs *below = base(vfs);
    if (below && below->iVersion >= 2 && below->xCurrentTimeInt64) {
        return below->xCurrentTimeInt64(below, milliseconds);
    }
    double days = 0;
    int result = vfs_current_time(vfs, &days);
    *milliseconds = (sqlite3_int64)(days * 86400000.0);
    return result;
}

static int vfs_last_error(sqlite3_vfs *vfs, int capacity, char *out) {
    sqlite3_vfs *below = base(vfs);
    return below && below->xGetLastError ? below->xGetLastError(below, capacity, out) : 0;
}

/* The VFSs that this file has registered, one for each wrapped VFS. They are never unregistered. Guarded by
   `registry_lock`. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static LogVFS *registry;

static bool is_same(const char *left, const char *right) {
    return left && right ? strcmp(left, right) == 0 : left == right;
}

static LogVFS *registered(const char *base_name) {
    for (LogVFS *vfs = registry; vfs; vfs = vfs->next) {
        if (is_same(vfs->base_name, base_name)) return vfs;
    }
    return NULL;
}

static LogVFS *make(const char *base_name) {
    sqlite3_vfs *below = sqlite3_vfs_find(base_name);
    LogVFS *self = below ? calloc(1, sizeof *self) : NULL;
    if (!self) return NULL;
    self->base_name = base_name ? strdup(base_name) : NULL;
    self->name = sqlite3_mprintf("martlet-log%s%s", base_name ? ":" : "", base_name ? base_name : "");
    self->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(LogVFSFile) + below->szOsFile,
        .mxPathname = below->mxPathname,
        .zName = self->name,
        .pAppData = self,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_current_time,
        .xGetLastError = vfs_last_error,
        .xCurrentTimeInt64 = vfs_current_time_int64,
    };
    if (!self->name || sqlite3_vfs_register(&self->vfs, 0) != SQLITE_OK) {
        sqlite3_free(self->name);
        free(self->base_name);
        free(self);
        return NULL;
    }
    self->next = registry;
    registry = self;
    return self;
}

const char *cmartlet_log_vfs(const char *base_name) {
    if (sqlite3_initialize() != SQLITE_OK) return NULL;
    pthread_mutex_lock(&registry_lock);
    LogVFS *vfs = registered(base_name);
    if (!vfs) vfs = make(base_name);
    pthread_mutex_unlock(&registry_lock);
    return vfs ? vfs->name : NULL;
}

/* ---- Inspecting ------------------------------------------------------------------------------ */

static sqlite3_file *file_of(void *database, int operation) {
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(database, "main", operation, &file) != SQLITE_OK) return NULL;
    return file && file->pMethods ? file : NULL;
}

static bool uses_log_vfs(sqlite3_file *file) {
    return file && file->pMethods->xClose == file_close;
}

/* Reads the beginning of the index into `header`. Returns the log that the connection has open. Returns NULL if there
   is no log, or if another connection is writing the index at this moment. */
static sqlite3_file *read_index(void *database, uint8_t header[INDEX_PREFIX_SIZE]) {
    sqlite3_file *file = file_of(database, SQLITE_FCNTL_FILE_POINTER);
    if (!file || file->pMethods->iVersion < 2) return NULL;
    sqlite3_file *log = file_of(database, SQLITE_FCNTL_JOURNAL_POINTER);
    if (!uses_log_vfs(log) || !((LogVFSFile *)log)->database) return NULL;
    void volatile *region = NULL;
    if (file->pMethods->xShmMap(file, 0, INDEX_REGION_SIZE, 0, &region) != SQLITE_OK || !region) return NULL;
    file->pMethods->xShmBarrier(file);
    memcpy(header, (const void *)region, INDEX_PREFIX_SIZE);
    return memcmp(header, header + INDEX_HEADER_SIZE, INDEX_HEADER_SIZE) == 0 ? log : NULL;
}

bool cmartlet_log_state(void *database, CMartletLogState *state) {
    uint8_t header[INDEX_PREFIX_SIZE];
    if (!read_index(database, header)) return false;
    memcpy(&state->frames, header + INDEX_FRAMES_OFFSET, 4);
    memcpy(&state->copied, header + 2 * INDEX_HEADER_SIZE, 4);
    state->salts = cmartlet_salts(header + INDEX_SALTS_OFFSET);
    return true;
}

bool cmartlet_log_is_damaged(void *database) {
    uint8_t header[INDEX_PREFIX_SIZE], frame[FRAME_HEADER_SIZE];
    sqlite3_file *log = read_index(database, header);
    int64_t offset = log ? cmartlet_last_frame_offset(header) : -1;
    if (offset < 0) return false;
    int result = log->pMethods->xRead(log, frame, sizeof frame, offset);
    if (result != SQLITE_OK) return result == SQLITE_IOERR_SHORT_READ;
    return !cmartlet_is_last_frame(header, frame);
}

static const char *log_path(void *database) {
    const char *path = sqlite3_db_filename(database, "main");
    return path && *path ? sqlite3_filename_wal(path) : NULL;
}

static sqlite3_vfs *vfs_of(void *database) {
    sqlite3_vfs *vfs = NULL;
    int result = sqlite3_file_control(database, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
    if (result != SQLITE_OK || !vfs) return NULL;
    return vfs->xOpen == vfs_open ? base(vfs) : vfs;
}

/* Opens the log independently of the connection. SQLite never locks the log file, so closing the log releases no
   lock. */
static int open_log(void *database, int flags, sqlite3_file **log) {
    sqlite3_vfs *vfs = vfs_of(database);
    const char *path = log_path(database);
    int is_there = 0;
    *log = NULL;
    if (!vfs || !path) return SQLITE_OK;
    int result = vfs->xAccess(vfs, path, SQLITE_ACCESS_EXISTS, &is_there);
    if (result != SQLITE_OK || !is_there) return result;
    sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile);
    if (!file) return SQLITE_NOMEM;
    result = vfs->xOpen(vfs, path, file, flags | SQLITE_OPEN_WAL, NULL);
    if (result == SQLITE_OK) {
        *log = file;
        return SQLITE_OK;
    }
    if (file->pMethods) file->pMethods->xClose(file);
    free(file);
    return result;
}

static void close_log(sqlite3_file *file) {
    file->pMethods->xClose(file);
    free(file);
}

int cmartlet_log_on_disk(void *database, bool *has_valid_log, uint64_t *salts) {
    sqlite3_file *file;
    *has_valid_log = false;
    int result = open_log(database, SQLITE_OPEN_READONLY, &file);
    if (!file) return result;
    uint8_t header[LOG_HEADER_SIZE] = {0};
    result = file->pMethods->xRead(file, header, LOG_HEADER_SIZE, 0);
    if (result == SQLITE_OK && cmartlet_is_log_header(header)) {
        *has_valid_log = true;
        *salts = cmartlet_salts(header + 16);
    }
    close_log(file);
    return result == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : result;
}

/* ---- Writing --------------------------------------------------------------------------------- */

int cmartlet_log_record_name(void *database, uint64_t salts, bool syncs) {
    sqlite3_file *file = file_of(database, SQLITE_FCNTL_FILE_POINTER);
    if (!file) return SQLITE_CANTOPEN;
    uint8_t bytes[SALTS_SIZE];
    for (int i = 0; i < SALTS_SIZE; i++) bytes[i] = (uint8_t)(salts >> (8 * (SALTS_SIZE - 1 - i)));
    int result = cmartlet_record_log_name(file, bytes);
    if (result != SQLITE_OK || !syncs) return result;
    return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
}

int cmartlet_log_sync(void *database) {
    sqlite3_file *log = file_of(database, SQLITE_FCNTL_JOURNAL_POINTER);
    return log ? log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) : SQLITE_OK;
}

int cmartlet_log_truncate(void *database) {
    sqlite3_file *file;
    int result = open_log(database, SQLITE_OPEN_READWRITE, &file);
    if (!file) return result;
    result = file->pMethods->xTruncate(file, 0);
    close_log(file);
    return result;
}

int cmartlet_log_delete(void *database) {
    sqlite3_vfs *vfs = vfs_of(database);
    const char *path = log_path(database);
    return vfs && path ? vfs->xDelete(vfs, path, 1) : SQLITE_CANTOPEN;
}

bool cmartlet_file_is_moved(void *database) {
    sqlite3_file *file = file_of(database, SQLITE_FCNTL_FILE_POINTER);
    return file && is_moved(file);
}

bool cmartlet_log_is_moved(void *database) {
    sqlite3_file *file = file_of(database, SQLITE_FCNTL_JOURNAL_POINTER);
    if (!uses_log_vfs(file)) return false;
    LogVFSFile *log = (LogVFSFile *)file;
    CMartletFileID found;
    if (!log->has_identity) return false;
    return !cmartlet_file_id(log->path, &found) || !cmartlet_is_same_file(found, log->identity);
}

bool cmartlet_index_is_moved(void *database) {
    sqlite3_file *file = file_of(database, SQLITE_FCNTL_FILE_POINTER);
    if (!uses_log_vfs(file)) return false;
    const LogVFSFile *self = (const LogVFSFile *)file;
    return self->index && cmartlet_is_open_index_moved(self->index, self->path);
}

bool cmartlet_index_is_foreign(void *database) {
    sqlite3_file *file = file_of(database, SQLITE_FCNTL_FILE_POINTER);
    return uses_log_vfs(file) && ((LogVFSFile *)file)->is_index_foreign;
}

/* Every connection that uses the file in WAL mode holds a shared lock on it, which prevents the exclusive lock. */
bool cmartlet_file_lock_if_unused(void *database) {
    static const int levels[] = {SQLITE_LOCK_SHARED, SQLITE_LOCK_RESERVED, SQLITE_LOCK_EXCLUSIVE};
    sqlite3_file *file = file_of(database, SQLITE_FCNTL_FILE_POINTER);
    if (!file) return false;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (file->pMethods->xLock(file, levels[i]) == SQLITE_OK) continue;
        cmartlet_file_unlock(database);
        return false;
    }
    return true;
}

void cmartlet_file_unlock(void *database) {
    sqlite3_file *file = file_of(database, SQLITE_FCNTL_FILE_POINTER);
    if (file) file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
}
