/* The SQLite interface of files in memory: the methods of the VFS and of its files. */
#include "memory_file.h"

#include <stdatomic.h>
#include <string.h>

enum { MAXIMUM_PATH = 1024 };

static MemoryHandle *handle_of(sqlite3_file *file) { return (MemoryHandle *)file; }

static MemoryFile *lock_mutex(sqlite3_file *file) {
    MemoryFile *memory_file = handle_of(file)->memory_file;
    pthread_mutex_lock(&memory_file->mutex);
    return memory_file;
}

static void unlock_mutex(MemoryFile *file) { pthread_mutex_unlock(&file->mutex); }

/* ---- Bytes ----------------------------------------------------------------------------------- */

static int file_close(sqlite3_file *file) {
    MemoryHandle *self = handle_of(file);
    MemoryFile *memory_file = lock_mutex(file);
    MemoryHandle **link = &memory_file->handles;
    while (*link != self) link = &(*link)->next;
    *link = self->next;
    unlock_mutex(memory_file);
    if (self->deletes_on_close) memory_unlink(memory_file);
    memory_release(memory_file);
    return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *bytes, int amount, sqlite3_int64 offset) {
    MemoryFile *memory_file = lock_mutex(file);
    int64_t count = memory_read(memory_file, bytes, amount, offset);
    unlock_mutex(memory_file);
    if (count == amount) return SQLITE_OK;
    memset((uint8_t *)bytes + count, 0, (size_t)(amount - count));
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset) {
    MemoryFile *memory_file = lock_mutex(file);
    bool succeeds = memory_write(memory_file, bytes, amount, offset);
    unlock_mutex(memory_file);
    return succeeds ? SQLITE_OK : SQLITE_FULL;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    MemoryFile *memory_file = lock_mutex(file);
    memory_truncate(memory_file, size);
    unlock_mutex(memory_file);
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *file, int flags) {
    (void)file, (void)flags;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    MemoryFile *memory_file = lock_mutex(file);
    *size = memory_file->size;
    unlock_mutex(memory_file);
    return SQLITE_OK;
}

/* ---- Locks ----------------------------------------------------------------------------------- */

static int strongest_other_lock(const MemoryHandle *self) {
    int strongest = SQLITE_LOCK_NONE;
    for (MemoryHandle *other = self->memory_file->handles; other; other = other->next) {
        if (other != self && other->lock > strongest) strongest = other->lock;
    }
    return strongest;
}

/* The locks are described at https://sqlite.org/lockingv3.html. */
static int take_lock(MemoryHandle *self, int level) {
    if (self->lock >= level) return SQLITE_OK;
    int other = strongest_other_lock(self);
    if (level == SQLITE_LOCK_SHARED) {
        if (other >= SQLITE_LOCK_PENDING) return SQLITE_BUSY;
    } else if (other >= SQLITE_LOCK_RESERVED) {
        return SQLITE_BUSY;
    } else if (level > SQLITE_LOCK_RESERVED && other == SQLITE_LOCK_SHARED) {
        /* The pending lock keeps new readers out while the writer waits for the current readers. */
        self->lock = SQLITE_LOCK_PENDING;
        return SQLITE_BUSY;
    }
    self->lock = level;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *file, int level) {
    MemoryFile *memory_file = lock_mutex(file);
    int result = take_lock(handle_of(file), level);
    unlock_mutex(memory_file);
    return result;
}

static int file_unlock(sqlite3_file *file, int level) {
    MemoryFile *memory_file = lock_mutex(file);
    if (handle_of(file)->lock > level) handle_of(file)->lock = level;
    unlock_mutex(memory_file);
    return SQLITE_OK;
}

static int file_check_reserved_lock(sqlite3_file *file, int *is_reserved) {
    MemoryFile *memory_file = lock_mutex(file);
    MemoryHandle *self = handle_of(file);
    *is_reserved = self->lock >= SQLITE_LOCK_RESERVED || strongest_other_lock(self) >= SQLITE_LOCK_RESERVED;
    unlock_mutex(memory_file);
    return SQLITE_OK;
}

/* ---- Shared memory --------------------------------------------------------------------------- */

static int file_shm_map(sqlite3_file *file, int region, int size, int extends, void volatile **address) {
    MemoryFile *memory_file = lock_mutex(file);
    int result = memory_map_region(memory_file, region, size, extends, address);
    unlock_mutex(memory_file);
    return result;
}

static int take_shm_locks(MemoryHandle *self, uint16_t mask, bool is_exclusive) {
    for (MemoryHandle *other = self->memory_file->handles; other; other = other->next) {
        if (other == self) continue;
        if (other->shm_exclusive & mask || (is_exclusive && other->shm_shared & mask)) return SQLITE_BUSY;
    }
    if (is_exclusive) {
        self->shm_exclusive |= mask;
    } else {
        self->shm_shared |= mask;
    }
    return SQLITE_OK;
}

static int file_shm_lock(sqlite3_file *file, int first, int count, int flags) {
    MemoryHandle *self = handle_of(file);
    uint16_t mask = (uint16_t)(((1u << count) - 1) << first);
    int result = SQLITE_OK;
    MemoryFile *memory_file = lock_mutex(file);
    if (flags & SQLITE_SHM_UNLOCK) {
        self->shm_shared &= (uint16_t)~mask;
        self->shm_exclusive &= (uint16_t)~mask;
    } else {
        result = take_shm_locks(self, mask, flags & SQLITE_SHM_EXCLUSIVE);
    }
    unlock_mutex(memory_file);
    return result;
}

static void file_shm_barrier(sqlite3_file *file) {
    atomic_thread_fence(memory_order_seq_cst);
    unlock_mutex(lock_mutex(file)); /* the unix VFS also locks and unlocks a mutex here */
}

/* Frees the shared memory if `deletes` is true. Otherwise the shared memory is freed together with the file. */
static int file_shm_unmap(sqlite3_file *file, int deletes) {
    MemoryFile *memory_file = lock_mutex(file);
    handle_of(file)->shm_shared = 0;
    handle_of(file)->shm_exclusive = 0;
    if (deletes) memory_free_regions(memory_file);
    unlock_mutex(memory_file);
    return SQLITE_OK;
}

/* ---- Other methods of a file ----------------------------------------------------------------- */

static int file_control(sqlite3_file *file, int operation, void *argument) {
    if (operation != SQLITE_FCNTL_HAS_MOVED) return SQLITE_NOTFOUND;
    *(int *)argument = !memory_is_linked(handle_of(file)->memory_file);
    return SQLITE_OK;
}

static int file_sector_size(sqlite3_file *file) {
    (void)file;
    return 512;
}

static int file_device_characteristics(sqlite3_file *file) {
    (void)file;
    return SQLITE_IOCAP_ATOMIC | SQLITE_IOCAP_POWERSAFE_OVERWRITE | SQLITE_IOCAP_SAFE_APPEND |
           SQLITE_IOCAP_SEQUENTIAL;
}

static const sqlite3_io_methods file_methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_device_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

/* ---- Methods of the VFS ---------------------------------------------------------------------- */

static sqlite3_vfs *system_vfs;

static int memory_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *flags_out) {
    (void)vfs;
    MemoryHandle *self = handle_of(file);
    memset(self, 0, sizeof *self);
    MemoryFile *memory_file =
        memory_acquire(path, !path || flags & SQLITE_OPEN_CREATE, path && flags & SQLITE_OPEN_EXCLUSIVE);
    if (!memory_file) return SQLITE_CANTOPEN;
    /* A file without a path is never linked, so it is freed when its only handle is closed. */
    self->deletes_on_close = path && flags & SQLITE_OPEN_DELETEONCLOSE;
    self->memory_file = memory_file;
    pthread_mutex_lock(&memory_file->mutex);
    self->next = memory_file->handles;
    memory_file->handles = self;
    unlock_mutex(memory_file);
    self->file.pMethods = &file_methods;
    if (flags_out) *flags_out = flags;
    return SQLITE_OK;
}

static int memory_delete(sqlite3_vfs *vfs, const char *path, int syncs_directory) {
    (void)vfs, (void)syncs_directory;
    if (cmartlet_memory_file_number(path) == 0) return SQLITE_IOERR_DELETE_NOENT;
    cmartlet_memory_file_remove(path);
    return SQLITE_OK;
}

/* As in the unix VFS, SQLITE_ACCESS_EXISTS is false for an empty file, but an empty file can be read and written. */
static int memory_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    (void)vfs;
    int64_t size = cmartlet_memory_file_size(path);
    *result = flags == SQLITE_ACCESS_EXISTS ? size > 0 : size >= 0;
    return SQLITE_OK;
}

static int memory_full_pathname(sqlite3_vfs *vfs, const char *path, int capacity, char *out) {
    (void)vfs;
    if (strlen(path) >= (size_t)capacity) return SQLITE_CANTOPEN;
    sqlite3_snprintf(capacity, out, "%s", path);
    return SQLITE_OK;
}

static int memory_randomness(sqlite3_vfs *vfs, int amount, char *out) {
    (void)vfs;
    return system_vfs->xRandomness(system_vfs, amount, out);
}

static int memory_sleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return system_vfs->xSleep(system_vfs, microseconds);
}

static int memory_current_time(sqlite3_vfs *vfs, double *days) {
    (void)vfs;
    return system_vfs->xCurrentTime(system_vfs, days);
}

static int memory_last_error(sqlite3_vfs *vfs, int capacity, char *out) {
    (void)vfs, (void)capacity, (void)out;
    return 0;
}

static sqlite3_vfs memory_vfs = {
    .iVersion = 1,
    .szOsFile = sizeof(MemoryHandle),
    .mxPathname = MAXIMUM_PATH,
    .zName = "martlet-memory",
    .xOpen = memory_open,
    .xDelete = memory_delete,
    .xAccess = memory_access,
    .xFullPathname = memory_full_pathname,
    .xRandomness = memory_randomness,
    .xSleep = memory_sleep,
    .xCurrentTime = memory_current_time,
    .xGetLastError = memory_last_error,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void register_vfs(void) {
    system_vfs = sqlite3_vfs_find(NULL);
    sqlite3_vfs_register(&memory_vfs, 0);
}

const char *cmartlet_memory_vfs_name(void) {
    pthread_once(&once, register_vfs);
    return memory_vfs.zName;
}

const char *cmartlet_default_vfs_name(void) {
    pthread_once(&once, register_vfs);
    return system_vfs->zName;
}
