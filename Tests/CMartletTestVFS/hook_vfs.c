/* The VFS that forwards calls to another VFS, with counters, hooks and faults. See include/cmartlet_test_vfs.h. */
#include "cmartlet_test_vfs.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALL_KINDS = CMartletCallAny, /* the number of kinds before Any */
    ROLES = CMartletRoleAny,
    MAXIMUM_FAULTS = 8,
};

typedef struct Hook {
    CMartletHook function;
    void *context;
} Hook;

struct CMartletHookVFS {
    sqlite3_vfs vfs; /* registered with SQLite; its pAppData points to this struct */
    sqlite3_vfs *base;
    char *name;
    sqlite3_mutex *mutex; /* guards everything below */
    Hook hooks[CALL_KINDS];
    CMartletFault faults[MAXIMUM_FAULTS]; /* `at` counts down; 0 means that the fault has occurred and is over */
    int fault_count;
    int64_t faults_hit;
    int64_t calls[CALL_KINDS][ROLES];
    int open_files;
};

/* One open file. In memory, the file of the base VFS follows this struct. */
typedef struct HookFile {
    sqlite3_file file;
    CMartletHookVFS *owner;
    CMartletRole role;
    const char *path; /* owned by SQLite, which keeps it until the file is closed */
    sqlite3_file *real;
} HookFile;

/* The decision on a call: whether to forward the call, and which error code, if any, replaces its result. */
typedef struct Verdict {
    bool pass;
    int failure;
} Verdict;

/* While a hook runs, calls of the same thread do not run hooks. */
static _Thread_local bool hook_is_running;

static bool can_fail(CMartletCall call) {
    return call != CMartletCallUnlock && call != CMartletCallShmUnlock && call != CMartletCallUnfetch
        && call != CMartletCallClose;
}

static int usual_failure(CMartletCall call) {
    switch (call) {
    case CMartletCallOpen: return SQLITE_CANTOPEN;
    case CMartletCallDelete: return SQLITE_IOERR_DELETE;
    case CMartletCallAccess: return SQLITE_IOERR_ACCESS;
    case CMartletCallRead: return SQLITE_IOERR_READ;
    case CMartletCallWrite: return SQLITE_IOERR_WRITE;
    case CMartletCallTruncate: return SQLITE_IOERR_TRUNCATE;
    case CMartletCallSync: return SQLITE_IOERR_FSYNC;
    case CMartletCallFileSize: return SQLITE_IOERR_FSTAT;
    case CMartletCallLock: return SQLITE_IOERR_LOCK;
    case CMartletCallShmMap: return SQLITE_IOERR_SHMMAP;
    case CMartletCallShmLock: return SQLITE_IOERR_SHMLOCK;
    default: return SQLITE_IOERR;
    }
}

static bool fault_matches(const CMartletFault *fault, const CMartletCallEvent *event) {
    bool right_call = fault->call == event->call || (fault->call == CMartletCallAny && can_fail(event->call));
    bool right_role = fault->role == event->role || fault->role == CMartletRoleAny;
    return fault->at > 0 && right_call && right_role;
}

/* Counts down all matching faults. The first fault that is due decides the result. The caller holds the mutex. */
static Verdict decide(CMartletHookVFS *self, const CMartletCallEvent *event) {
    Verdict verdict = {true, SQLITE_OK};
    for (int i = 0; i < self->fault_count; i++) {
        CMartletFault *fault = &self->faults[i];
        if (!fault_matches(fault, event)) continue;
        if (fault->at > 1) {
            fault->at--;
            continue;
        }
        if (!fault->persists) fault->at = 0;
        if (verdict.failure != SQLITE_OK) continue;
        verdict.pass = fault->applied;
        verdict.failure = fault->result ? fault->result : usual_failure(event->call);
        self->faults_hit++;
    }
    return verdict;
}

/* The first step of every counted call: counts the call, runs the hook, and checks the faults. */
static Verdict enter(CMartletHookVFS *self, CMartletCallEvent event) {
    sqlite3_mutex_enter(self->mutex);
    self->calls[event.call][event.role]++;
    Hook hook = self->hooks[event.call];
    sqlite3_mutex_leave(self->mutex);

    if (hook.function && !hook_is_running) {
        hook_is_running = true;
        hook.function(hook.context, &event);
        hook_is_running = false;
    }

    sqlite3_mutex_enter(self->mutex);
    Verdict verdict = decide(self, &event);
    sqlite3_mutex_leave(self->mutex);
    return verdict;
}

static Verdict enter_file(sqlite3_file *file, CMartletCall call, int64_t offset, int64_t amount, int flags) {
    HookFile *self = (HookFile *)file;
    return enter(self->owner, (CMartletCallEvent){call, self->role, self->path, offset, amount, flags});
}

static sqlite3_file *real(sqlite3_file *file) {
    return ((HookFile *)file)->real;
}

/* Forwards a call if the verdict allows it. Returns the failure of the verdict, if any, or the result of the call. */
#define PASS_ON(verdict, call)                                       \
    do {                                                             \
        Verdict decided = (verdict);                                 \
        int result = decided.pass ? (call) : SQLITE_OK;              \
        return decided.failure ? decided.failure : result;           \
    } while (0)

/* ---- Calls on a file ------------------------------------------------------------------------- */

static int hook_close(sqlite3_file *file) {
    HookFile *self = (HookFile *)file;
    enter_file(file, CMartletCallClose, 0, 0, 0);
    sqlite3_mutex_enter(self->owner->mutex);
    self->owner->open_files--;
    sqlite3_mutex_leave(self->owner->mutex);
    return real(file)->pMethods->xClose(real(file));
}

static int hook_read(sqlite3_file *file, void *bytes, int amount, sqlite3_int64 offset) {
    PASS_ON(enter_file(file, CMartletCallRead, offset, amount, 0),
            real(file)->pMethods->xRead(real(file), bytes, amount, offset));
}

static int hook_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset) {
    PASS_ON(enter_file(file, CMartletCallWrite, offset, amount, 0),
            real(file)->pMethods->xWrite(real(file), bytes, amount, offset));
}

static int hook_truncate(sqlite3_file *file, sqlite3_int64 size) {
    PASS_ON(enter_file(file, CMartletCallTruncate, size, 0, 0),
            real(file)->pMethods->xTruncate(real(file), size));
}

static int hook_sync(sqlite3_file *file, int flags) {
    PASS_ON(enter_file(file, CMartletCallSync, 0, 0, flags), real(file)->pMethods->xSync(real(file), flags));
}

static int hook_file_size(sqlite3_file *file, sqlite3_int64 *size) {
    PASS_ON(enter_file(file, CMartletCallFileSize, 0, 0, 0),
            real(file)->pMethods->xFileSize(real(file), size));
}

static int hook_lock(sqlite3_file *file, int level) {
    PASS_ON(enter_file(file, CMartletCallLock, 0, 0, level), real(file)->pMethods->xLock(real(file), level));
}

static int hook_unlock(sqlite3_file *file, int level) {
    enter_file(file, CMartletCallUnlock, 0, 0, level);
    return real(file)->pMethods->xUnlock(real(file), level);
}

static int hook_check_reserved_lock(sqlite3_file *file, int *is_reserved) {
    return real(file)->pMethods->xCheckReservedLock(real(file), is_reserved);
}

static int hook_file_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int hook_sector_size(sqlite3_file *file) {
    return real(file)->pMethods->xSectorSize(real(file));
}

static int hook_device_characteristics(sqlite3_file *file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int hook_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **address) {
    *address = NULL;
    PASS_ON(enter_file(file, CMartletCallShmMap, region, size, extend),
            real(file)->pMethods->xShmMap(real(file), region, size, extend, address));
}

static int hook_shm_lock(sqlite3_file *file, int first, int count, int flags) {
    CMartletCall call = flags & SQLITE_SHM_UNLOCK ? CMartletCallShmUnlock : CMartletCallShmLock;
    PASS_ON(enter_file(file, call, first, count, flags),
            real(file)->pMethods->xShmLock(real(file), first, count, flags));
}

static void hook_shm_barrier(sqlite3_file *file) {
    real(file)->pMethods->xShmBarrier(real(file));
}

static int hook_shm_unmap(sqlite3_file *file, int delete) {
    return real(file)->pMethods->xShmUnmap(real(file), delete);
}

static int hook_fetch(sqlite3_file *file, sqlite3_int64 offset, int amount, void **address) {
    *address = NULL;
    if (real(file)->pMethods->iVersion < 3) return SQLITE_OK;
    return real(file)->pMethods->xFetch(real(file), offset, amount, address);
}

static int hook_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *address) {
    enter_file(file, CMartletCallUnfetch, offset, 0, 0);
    if (real(file)->pMethods->iVersion < 3) return SQLITE_OK;
    return real(file)->pMethods->xUnfetch(real(file), offset, address);
}

/*
 * The version is 3 even if the base VFS has version 2. SQLite calls xUnfetch only in version 3, and hooks of tests
 * interrupt checkpoints in xUnfetch.
 */
static const sqlite3_io_methods hook_methods = {
    .iVersion = 3,
    .xClose = hook_close,
    .xRead = hook_read,
    .xWrite = hook_write,
    .xTruncate = hook_truncate,
    .xSync = hook_sync,
    .xFileSize = hook_file_size,
    .xLock = hook_lock,
    .xUnlock = hook_unlock,
    .xCheckReservedLock = hook_check_reserved_lock,
    .xFileControl = hook_file_control,
    .xSectorSize = hook_sector_size,
    .xDeviceCharacteristics = hook_device_characteristics,
    .xShmMap = hook_shm_map,
    .xShmLock = hook_shm_lock,
    .xShmBarrier = hook_shm_barrier,
    .xShmUnmap = hook_shm_unmap,
    .xFetch = hook_fetch,
    .xUnfetch = hook_unfetch,
};

/* ---- Calls on the VFS ------------------------------------------------------------------------ */

static CMartletHookVFS *owner_of(sqlite3_vfs *vfs) {
    return vfs->pAppData;
}

static CMartletRole role_for_flags(int flags) {
    if (flags & SQLITE_OPEN_MAIN_DB) return CMartletRoleMain;
    if (flags & SQLITE_OPEN_WAL) return CMartletRoleWal;
    if (flags & SQLITE_OPEN_MAIN_JOURNAL) return CMartletRoleJournal;
    return CMartletRoleOther;
}

static bool has_suffix(const char *text, const char *suffix) {
    size_t length = strlen(text), suffix_length = strlen(suffix);
    return length >= suffix_length && strcmp(text + length - suffix_length, suffix) == 0;
}

static CMartletRole role_for_path(const char *path) {
    if (has_suffix(path, "-wal")) return CMartletRoleWal;
    if (has_suffix(path, "-journal")) return CMartletRoleJournal;
    return CMartletRoleOther;
}

static int hook_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *flags_out) {
    HookFile *self = (HookFile *)file;
    memset(self, 0, sizeof *self + owner_of(vfs)->base->szOsFile);
    self->owner = owner_of(vfs);
    self->role = role_for_flags(flags);
    self->path = path;
    self->real = (sqlite3_file *)(self + 1);

    Verdict verdict = enter_file(file, CMartletCallOpen, 0, 0, flags);
    if (verdict.failure) return verdict.failure; /* SQLite does not close a file without methods */
    int result = self->owner->base->xOpen(self->owner->base, path, self->real, flags, flags_out);
    if (result != SQLITE_OK) {
        if (self->real->pMethods) self->real->pMethods->xClose(self->real);
        return result;
    }
    self->file.pMethods = &hook_methods;
    sqlite3_mutex_enter(self->owner->mutex);
    self->owner->open_files++;
    sqlite3_mutex_leave(self->owner->mutex);
    return SQLITE_OK;
}

static int hook_delete(sqlite3_vfs *vfs, const char *path, int sync_directory) {
    CMartletHookVFS *self = owner_of(vfs);
    CMartletCallEvent event = {CMartletCallDelete, role_for_path(path), path, 0, 0, sync_directory};
    PASS_ON(enter(self, event), self->base->xDelete(self->base, path, sync_directory));
}

static int hook_access(sqlite3_vfs *vfs, const char *path, int flags, int *result_out) {
    CMartletHookVFS *self = owner_of(vfs);
    CMartletCallEvent event = {CMartletCallAccess, role_for_path(path), path, 0, 0, flags};
    PASS_ON(enter(self, event), self->base->xAccess(self->base, path, flags, result_out));
}

static int hook_full_pathname(sqlite3_vfs *vfs, const char *path, int capacity, char *out) {
    return owner_of(vfs)->base->xFullPathname(owner_of(vfs)->base, path, capacity, out);
}

static int hook_randomness(sqlite3_vfs *vfs, int amount, char *out) {
    return owner_of(vfs)->base->xRandomness(owner_of(vfs)->base, amount, out);
}

static int hook_sleep(sqlite3_vfs *vfs, int microseconds) {
    return owner_of(vfs)->base->xSleep(owner_of(vfs)->base, microseconds);
}

static int hook_current_time(sqlite3_vfs *vfs, double *days) {
    return owner_of(vfs)->base->xCurrentTime(owner_of(vfs)->base, days);
}

static int hook_current_time_int64(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
    return owner_of(vfs)->base->xCurrentTimeInt64(owner_of(vfs)->base, milliseconds);
}

static int hook_last_error(sqlite3_vfs *vfs, int capacity, char *out) {
    return owner_of(vfs)->base->xGetLastError(owner_of(vfs)->base, capacity, out);
}

/* ---- Interface for tests --------------------------------------------------------------------- */

CMartletHookVFS *cmartlet_hook_vfs_create(const char *name, const char *base_name) {
    sqlite3_vfs *base = sqlite3_vfs_find(base_name ? base_name : "unix");
    if (!base || sqlite3_vfs_find(name)) return NULL;

    CMartletHookVFS *self = calloc(1, sizeof *self);
    self->base = base;
    self->name = strdup(name);
    self->mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
    self->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(HookFile) + base->szOsFile,
        .mxPathname = base->mxPathname,
        .zName = self->name,
        .pAppData = self,
        .xOpen = hook_open,
        .xDelete = hook_delete,
        .xAccess = hook_access,
        .xFullPathname = hook_full_pathname,
        .xRandomness = hook_randomness,
        .xSleep = hook_sleep,
        .xCurrentTime = hook_current_time,
        .xGetLastError = hook_last_error,
        .xCurrentTimeInt64 = hook_current_time_int64,
    };
    sqlite3_vfs_register(&self->vfs, 0);
    return self;
}

bool cmartlet_hook_vfs_destroy(CMartletHookVFS *self) {
    if (cmartlet_hook_vfs_open_file_count(self) > 0) return false;
    sqlite3_vfs_unregister(&self->vfs);
    sqlite3_mutex_free(self->mutex);
    free(self->name);
    free(self);
    return true;
}

void cmartlet_hook_vfs_set_hook(CMartletHookVFS *self, CMartletCall call, CMartletHook hook, void *context) {
    sqlite3_mutex_enter(self->mutex);
    for (int kind = 0; kind < CALL_KINDS; kind++) {
        bool chosen = kind == (int)call || (call == CMartletCallAny && can_fail(kind));
        if (chosen) self->hooks[kind] = (Hook){hook, context};
    }
    sqlite3_mutex_leave(self->mutex);
}

bool cmartlet_hook_vfs_add_fault(CMartletHookVFS *self, CMartletFault fault) {
    sqlite3_mutex_enter(self->mutex);
    bool has_room = self->fault_count < MAXIMUM_FAULTS;
    if (has_room) self->faults[self->fault_count++] = fault;
    sqlite3_mutex_leave(self->mutex);
    return has_room;
}

void cmartlet_hook_vfs_clear_faults(CMartletHookVFS *self) {
    sqlite3_mutex_enter(self->mutex);
    self->fault_count = 0;
    sqlite3_mutex_leave(self->mutex);
}

int64_t cmartlet_hook_vfs_failed_call_count(CMartletHookVFS *self) {
    sqlite3_mutex_enter(self->mutex);
    int64_t count = self->faults_hit;
    sqlite3_mutex_leave(self->mutex);
    return count;
}

int64_t cmartlet_hook_vfs_call_count(CMartletHookVFS *self, CMartletCall call, CMartletRole role) {
    int64_t count = 0;
    sqlite3_mutex_enter(self->mutex);
    for (int kind = 0; kind < CALL_KINDS; kind++) {
        for (int part = 0; part < ROLES; part++) {
            bool right_call = kind == (int)call || (call == CMartletCallAny && can_fail(kind));
            bool right_role = part == (int)role || role == CMartletRoleAny;
            if (right_call && right_role) count += self->calls[kind][part];
        }
    }
    sqlite3_mutex_leave(self->mutex);
    return count;
}

void cmartlet_hook_vfs_clear_counts(CMartletHookVFS *self) {
    sqlite3_mutex_enter(self->mutex);
    memset(self->calls, 0, sizeof self->calls);
    sqlite3_mutex_leave(self->mutex);
}

int cmartlet_hook_vfs_open_file_count(CMartletHookVFS *self) {
    sqlite3_mutex_enter(self->mutex);
    int count = self->open_files;
    sqlite3_mutex_leave(self->mutex);
    return count;
}
