/* The VFS of the disk in memory: its methods and file methods, with locks and shared memory. */
#include "disk.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAXIMUM_PATH = 512,
    SECTOR_SIZE = 512,
};

/* The time at which the clock starts: 28 December 2025 as a Julian day, in milliseconds. */
static const sqlite3_int64 first_millisecond = 212633640000000;

static DiskHandle *handle_of(sqlite3_file *file) {
    return (DiskHandle *)file;
}

static void lock_disk(sqlite3_file *file) {
    sqlite3_mutex_enter(handle_of(file)->disk->mutex);
}

static void unlock_disk(sqlite3_file *file) {
    sqlite3_mutex_leave(handle_of(file)->disk->mutex);
}

static bool is_dead(sqlite3_file *file) {
    return handle_of(file)->disk->is_off || handle_of(file)->file_on_disk->is_gone;
}

/* Counts an operation on this file. Returns false if the operation must fail. */
static bool count_operation(sqlite3_file *file) {
    return !handle_of(file)->file_on_disk->is_gone && disk_count_operation(handle_of(file)->disk);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static int file_close(sqlite3_file *file) {
    DiskHandle *self = handle_of(file);
    lock_disk(file);
    DiskHandle **link = &self->file_on_disk->handles;
    while (*link != self) link = &(*link)->next;
    *link = self->next;
    bool deletes = self->deletes_on_close && self->file_on_disk->is_linked && disk_count_operation(self->disk);
    if (deletes) {
        disk_unlink(self->disk, self->file_on_disk, false);
    } else {
        disk_release(self->disk, self->file_on_disk);
    }
    unlock_disk(file);
    return SQLITE_OK;
}

static int read_bytes(const DiskBytes *bytes, uint8_t *out, int amount, int64_t offset) {
    int64_t available = bytes->size - offset;
    if (available < 0) available = 0;
    if (available > amount) available = amount;
    if (available > 0) memcpy(out, bytes->start + offset, (size_t)available);
    if (available == amount) return SQLITE_OK;
    memset(out + available, 0, (size_t)(amount - available));
    return SQLITE_IOERR_SHORT_READ;
}

static int file_read(sqlite3_file *file, void *bytes, int amount, sqlite3_int64 offset) {
    lock_disk(file);
    int result = SQLITE_IOERR_READ;
    if (!is_dead(file)) result = read_bytes(&handle_of(file)->file_on_disk->current, bytes, amount, offset);
    unlock_disk(file);
    return result;
}

static int file_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset) {
    DiskHandle *self = handle_of(file);
    lock_disk(file);
    bool was_dead = is_dead(file);
    bool succeeds = count_operation(file);
    if (succeeds) {
        disk_write(self->disk, self->file_on_disk, bytes, amount, offset);
    } else if (!was_dead) {
        disk_record_write(self->disk, self->file_on_disk, bytes, amount, offset);
    }
    unlock_disk(file);
    return succeeds ? SQLITE_OK : SQLITE_IOERR_WRITE;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    DiskHandle *self = handle_of(file);
    lock_disk(file);
    bool succeeds = count_operation(file);
    if (succeeds) disk_truncate(self->disk, self->file_on_disk, size);
    unlock_disk(file);
    return succeeds ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

static int file_sync(sqlite3_file *file, int flags) {
    DiskHandle *self = handle_of(file);
    lock_disk(file);
    bool succeeds = count_operation(file);
    if (succeeds) disk_sync(self->disk, self->file_on_disk);
    unlock_disk(file);
    return succeeds ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    lock_disk(file);
    bool fails = is_dead(file);
    *size = fails ? 0 : handle_of(file)->file_on_disk->current.size;
    unlock_disk(file);
    return fails ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

/* ---- Locks ----------------------------------------------------------------------------------- */

/* The strongest lock that another handle has on the same file. */
static int strongest_other_lock(const DiskHandle *self) {
    int strongest = SQLITE_LOCK_NONE;
    for (DiskHandle *other = self->file_on_disk->handles; other; other = other->next) {
        if (other != self && other->lock > strongest) strongest = other->lock;
    }
    return strongest;
}

static int take_lock(DiskHandle *self, int level) {
    if (self->lock >= level) return SQLITE_OK;
    int other = strongest_other_lock(self);
    switch (level) {
    case SQLITE_LOCK_SHARED:
        if (other >= SQLITE_LOCK_PENDING) return SQLITE_BUSY;
        break;
    case SQLITE_LOCK_RESERVED:
        if (other >= SQLITE_LOCK_RESERVED) return SQLITE_BUSY;
        break;
    default: /* Exclusive. While other handles read, the handle gets the pending lock, which keeps new readers out. */
        if (other >= SQLITE_LOCK_RESERVED) return SQLITE_BUSY;
        if (other == SQLITE_LOCK_SHARED) {
            self->lock = SQLITE_LOCK_PENDING;
            return SQLITE_BUSY;
        }
    }
    self->lock = level;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *file, int level) {
    lock_disk(file);
    int result = is_dead(file) ? SQLITE_IOERR_LOCK : take_lock(handle_of(file), level);
    unlock_disk(file);
    return result;
}

static int file_unlock(sqlite3_file *file, int level) {
    lock_disk(file);
    if (handle_of(file)->lock > level) handle_of(file)->lock = level;
    unlock_disk(file);
    return SQLITE_OK;
}

static int file_check_reserved_lock(sqlite3_file *file, int *is_reserved) {
    lock_disk(file);
    DiskHandle *self = handle_of(file);
    *is_reserved = self->lock >= SQLITE_LOCK_RESERVED || strongest_other_lock(self) >= SQLITE_LOCK_RESERVED;
    unlock_disk(file);
    return SQLITE_OK;
}

/* ---- Shared memory --------------------------------------------------------------------------- */

static int map_region(DiskFile *file, int region, int size, bool extends, void volatile **address) {
    if (region >= file->shm_region_count) {
        if (!extends) return SQLITE_OK;
        file->shm_regions = realloc(file->shm_regions, (size_t)(region + 1) * sizeof *file->shm_regions);
        while (file->shm_region_count <= region) {
            file->shm_regions[file->shm_region_count++] = calloc(1, (size_t)size);
        }
    }
    *address = file->shm_regions[region];
    return SQLITE_OK;
}

static int file_shm_map(sqlite3_file *file, int region, int size, int extends, void volatile **address) {
    lock_disk(file);
    *address = NULL;
    int result = SQLITE_IOERR_SHMMAP;
    if (!is_dead(file)) result = map_region(handle_of(file)->file_on_disk, region, size, extends, address);
    unlock_disk(file);
    return result;
}

static int take_shm_locks(DiskHandle *self, uint16_t mask, bool exclusive) {
    for (DiskHandle *other = self->file_on_disk->handles; other; other = other->next) {
        if (other == self) continue;
        if (other->shm_exclusive & mask) return SQLITE_BUSY;
        if (exclusive && other->shm_shared & mask) return SQLITE_BUSY;
    }
    if (exclusive) {
        self->shm_exclusive |= mask;
    } else {
        self->shm_shared |= mask;
    }
    return SQLITE_OK;
}

static int file_shm_lock(sqlite3_file *file, int first, int count, int flags) {
    DiskHandle *self = handle_of(file);
    uint16_t mask = (uint16_t)(((1u << count) - 1) << first);
    int result = SQLITE_OK;
    lock_disk(file);
    if (flags & SQLITE_SHM_UNLOCK) {
        self->shm_shared &= (uint16_t)~mask;
        self->shm_exclusive &= (uint16_t)~mask;
    } else if (is_dead(file)) {
        result = SQLITE_IOERR_SHMLOCK;
    } else {
        result = take_shm_locks(self, mask, flags & SQLITE_SHM_EXCLUSIVE);
    }
    unlock_disk(file);
    return result;
}

static void file_shm_barrier(sqlite3_file *file) {
    lock_disk(file); /* a mutex is a barrier */
    unlock_disk(file);
}

static int file_shm_unmap(sqlite3_file *file, int deletes) {
    lock_disk(file);
    handle_of(file)->shm_shared = 0;
    handle_of(file)->shm_exclusive = 0;
    unlock_disk(file);
    return SQLITE_OK;
}

/* ---- Other calls on a file ------------------------------------------------------------------- */

static int file_control(sqlite3_file *file, int operation, void *argument) {
    if (operation != SQLITE_FCNTL_HAS_MOVED) return SQLITE_NOTFOUND;
    lock_disk(file);
    *(int *)argument = !handle_of(file)->file_on_disk->is_linked;
    unlock_disk(file);
    return SQLITE_OK;
}

static int file_sector_size(sqlite3_file *file) {
    return SECTOR_SIZE;
}

static int file_device_characteristics(sqlite3_file *file) {
    return handle_of(file)->disk->characteristics;
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

/* ---- Calls on the VFS ------------------------------------------------------------------------ */

static CMartletDisk *disk_of(sqlite3_vfs *vfs) {
    return vfs->pAppData;
}

/*
 * Finds the file to open, or creates it if the flags allow that. Returns NULL if there is no file, or if the power is
 * off or fails during the creation.
 */
static DiskFile *file_to_open(CMartletDisk *disk, const char *path, int flags) {
    if (disk->is_off) return NULL;
    if (!path) return disk_add(disk, NULL);
    DiskFile *file = disk_find(disk, path);
    if (file || !(flags & SQLITE_OPEN_CREATE)) return file;
    bool has_power = disk_count_operation(disk);
    file = disk_add(disk, path);
    return has_power ? file : NULL;
}

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *flags_out) {
    CMartletDisk *disk = disk_of(vfs);
    DiskHandle *self = handle_of(file);
    memset(self, 0, sizeof *self);

    sqlite3_mutex_enter(disk->mutex);
    DiskFile *opened = file_to_open(disk, path, flags);
    if (opened) {
        *self = (DiskHandle){
            .file = {&file_methods},
            .disk = disk,
            .file_on_disk = opened,
            .next = opened->handles,
            .deletes_on_close = path && flags & SQLITE_OPEN_DELETEONCLOSE,
        };
        opened->handles = self;
        if (flags_out) *flags_out = flags;
    }
    sqlite3_mutex_leave(disk->mutex);
    return opened ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync_directory) {
    CMartletDisk *disk = disk_of(vfs);
    sqlite3_mutex_enter(disk->mutex);
    DiskFile *file = disk_find(disk, path);
    int result = SQLITE_IOERR_DELETE_NOENT;
    if (disk->is_off) {
        result = SQLITE_IOERR_DELETE;
    } else if (file) {
        bool has_power = disk_count_operation(disk);
        disk_unlink(disk, file, has_power && sync_directory);
        result = has_power ? SQLITE_OK : SQLITE_IOERR_DELETE;
    }
    sqlite3_mutex_leave(disk->mutex);
    return result;
}

static int disk_access(sqlite3_vfs *vfs, const char *path, int flags, int *result_out) {
    CMartletDisk *disk = disk_of(vfs);
    sqlite3_mutex_enter(disk->mutex);
    bool is_off = disk->is_off;
    DiskFile *file = disk_find(disk, path);
    /* As in the unix VFS, SQLITE_ACCESS_EXISTS is false for an empty file. The other flags only require a file. */
    *result_out = file && (flags != SQLITE_ACCESS_EXISTS || file->current.size > 0);
    sqlite3_mutex_leave(disk->mutex);
    return is_off ? SQLITE_IOERR_ACCESS : SQLITE_OK;
}

static int disk_full_pathname(sqlite3_vfs *vfs, const char *path, int capacity, char *out) {
    sqlite3_snprintf(capacity, out, "%s", path);
    return SQLITE_OK;
}

static int disk_randomness(sqlite3_vfs *vfs, int amount, char *out) {
    CMartletDisk *disk = disk_of(vfs);
    sqlite3_mutex_enter(disk->mutex);
    for (int i = 0; i < amount; i++) out[i] = (char)disk_random(disk);
    sqlite3_mutex_leave(disk->mutex);
    return amount;
}

/* Advances the clock and yields to other threads instead of sleeping, so that tests do not wait. */
static int disk_sleep(sqlite3_vfs *vfs, int microseconds) {
    CMartletDisk *disk = disk_of(vfs);
    sqlite3_mutex_enter(disk->mutex);
    disk->clock_milliseconds += (microseconds + 999) / 1000;
    sqlite3_mutex_leave(disk->mutex);
    sched_yield();
    return microseconds;
}

static int disk_current_time_int64(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
    CMartletDisk *disk = disk_of(vfs);
    sqlite3_mutex_enter(disk->mutex);
    *milliseconds = first_millisecond + disk->clock_milliseconds;
    sqlite3_mutex_leave(disk->mutex);
    return SQLITE_OK;
}

static int disk_current_time(sqlite3_vfs *vfs, double *days) {
    sqlite3_int64 milliseconds;
    disk_current_time_int64(vfs, &milliseconds);
    *days = (double)milliseconds / 86400000.0;
    return SQLITE_OK;
}

static int disk_last_error(sqlite3_vfs *vfs, int capacity, char *out) {
    return 0;
}

CMartletDisk *cmartlet_disk_create(const char *name) {
    if (sqlite3_vfs_find(name)) return NULL;
    CMartletDisk *disk = calloc(1, sizeof *disk);
    disk->name = strdup(name);
    disk->mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
    disk->characteristics = SQLITE_IOCAP_POWERSAFE_OVERWRITE;
    disk->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = sizeof(DiskHandle),
        .mxPathname = MAXIMUM_PATH,
        .zName = disk->name,
        .pAppData = disk,
        .xOpen = disk_open,
        .xDelete = disk_delete,
        .xAccess = disk_access,
        .xFullPathname = disk_full_pathname,
        .xRandomness = disk_randomness,
        .xSleep = disk_sleep,
        .xCurrentTime = disk_current_time,
        .xGetLastError = disk_last_error,
        .xCurrentTimeInt64 = disk_current_time_int64,
    };
    cmartlet_disk_reset(disk);
    sqlite3_vfs_register(&disk->vfs, 0);
    return disk;
}

bool cmartlet_disk_destroy(CMartletDisk *disk) {
    if (cmartlet_disk_open_file_count(disk) > 0) return false;
    cmartlet_disk_reset(disk);
    sqlite3_vfs_unregister(&disk->vfs);
    sqlite3_mutex_free(disk->mutex);
    free(disk->name);
    free(disk);
    return true;
}
