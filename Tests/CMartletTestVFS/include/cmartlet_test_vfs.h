/*
 * VFS implementations for tests, between SQLite and the disk.
 *
 * - CMartletHookVFS forwards every call to another VFS. It counts the call, calls a hook, and lets
 *   the call fail if a fault matches.
 * - CMartletDisk is a disk in memory with its own VFS. Its power can be cut at any operation. Data
 *   that was not synced before is then damaged. A seed determines the damage.
 *
 * A test can create any number of hook VFSs and disks, each with its own VFS name, so tests can run in
 * parallel. The base of a hook VFS can be the VFS of a disk. The functions are thread-safe. The disk is
 * deterministic: the same calls, bytes and seeds cause the same damage. SQLite's own random numbers
 * (`randomblob`, the salts of a WAL) do not come from the disk, but from one generator of the process.
 *
 * This header uses no SQLite type, so that Swift imports SQLite from one module only.
 */
#ifndef CMARTLET_TEST_VFS_H
#define CMARTLET_TEST_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CMARTLET_CLOSED_ENUM enum __attribute__((enum_extensibility(closed)))

/* The kinds of calls. `Any` means every kind that can fail. */
typedef CMARTLET_CLOSED_ENUM CMartletCall {
    CMartletCallOpen,
    CMartletCallDelete,
    CMartletCallAccess,
    CMartletCallRead,
    CMartletCallWrite,
    CMartletCallTruncate,
    CMartletCallSync,
    CMartletCallFileSize,
    CMartletCallLock,
    CMartletCallUnlock,
    CMartletCallShmMap,
    CMartletCallShmLock,
    CMartletCallShmUnlock,
    CMartletCallUnfetch,
    CMartletCallClose,
    CMartletCallAny,
} CMartletCall;

/* The role of a file. Calls on shared memory count as calls on the main file. */
typedef CMARTLET_CLOSED_ENUM CMartletRole {
    CMartletRoleMain,
    CMartletRoleWal,
    CMartletRoleJournal,
    CMartletRoleOther,
    CMartletRoleAny,
} CMartletRole;

/* One call, as a hook sees it. `path` is valid during the hook only, and NULL for temporary files. */
typedef struct CMartletCallEvent {
    CMartletCall call;
    CMartletRole role;
    const char *path;
    int64_t offset; /* read, write: the position; truncate: the new size; shm: the region or the first lock */
    int64_t amount; /* read, write: bytes; shm map: the size of a region; shm lock: how many locks */
    int flags;      /* the flags or the lock level that SQLite passed; 0 for calls without them */
} CMartletCallEvent;

/* ---- The hook VFS ---------------------------------------------------------------------------- */

typedef struct CMartletHookVFS CMartletHookVFS;
typedef void (*CMartletHook)(void *context, const CMartletCallEvent *event);

/* Makes calls fail: one call, or all calls from that one on. */
typedef struct CMartletFault {
    CMartletCall call;
    CMartletRole role;
    int64_t at;    /* 1 is the next matching call */
    bool persists; /* fail every matching call from this one on */
    bool applied;  /* execute the call, then report the failure (not for open) */
    int result;    /* the SQLite result code; 0: the usual code for the call */
} CMartletFault;

/*
 * Registers a VFS with the name `name` over the VFS with the name `base` (NULL: "unix"). NULL if the
 * base does not exist or the name is in use.
 */
CMartletHookVFS *cmartlet_hook_vfs_create(const char *name, const char *base);

/* Unregisters and frees the VFS. False, without effect, while files are open through it. */
bool cmartlet_hook_vfs_destroy(CMartletHookVFS *vfs);

/*
 * Sets the hook that runs before every call of the kind is forwarded. NULL removes it. The hook may
 * use SQLite, also through this VFS. While it runs, calls of its thread are counted and may fail, but
 * do not run hooks.
 *
 * A hook on Unfetch can interrupt a checkpoint. If the header of the WAL index has changed, SQLite makes
 * this call after it has read the header and before it copies frames.
 */
void cmartlet_hook_vfs_set_hook(CMartletHookVFS *vfs, CMartletCall call, CMartletHook hook, void *context);

/* Adds a fault. False if there are eight already. */
bool cmartlet_hook_vfs_add_fault(CMartletHookVFS *vfs, CMartletFault fault);
void cmartlet_hook_vfs_clear_faults(CMartletHookVFS *vfs);

/* The number of calls that failed because of a fault since the VFS was created. */
int64_t cmartlet_hook_vfs_failed_call_count(CMartletHookVFS *vfs);

/* The number of calls of the kind and role since the counters were last cleared. */
int64_t cmartlet_hook_vfs_call_count(CMartletHookVFS *vfs, CMartletCall call, CMartletRole role);
void cmartlet_hook_vfs_clear_counts(CMartletHookVFS *vfs);

/* The number of files that are open through the VFS. */
int cmartlet_hook_vfs_open_file_count(CMartletHookVFS *vfs);

/* ---- The disk whose power can be cut --------------------------------------------------------- */

typedef struct CMartletDisk CMartletDisk;

/*
 * What a power cut does to the writes and truncations since the last sync.
 *
 *   AllLost  none survives
 *   Prefix   those up to a random operation survive
 *   Subset   each survives or not, independently
 *   Torn     like Subset, and single 512-byte sectors of writes are lost or turned to garbage
 *   Mixed    one of the above for each file
 *
 * A creation or deletion of a file since the last sync is lost with AllLost. Otherwise it survives or not,
 * independently of the writes.
 */
typedef CMARTLET_CLOSED_ENUM CMartletDamage {
    CMartletDamageAllLost,
    CMartletDamagePrefix,
    CMartletDamageSubset,
    CMartletDamageTorn,
    CMartletDamageMixed,
} CMartletDamage;

/* Registers a VFS with the name `name` over an empty disk. NULL if the name is in use. */
CMartletDisk *cmartlet_disk_create(const char *name);

/* Frees the disk and unregisters its VFS. False, without effect, while files are open on it. */
bool cmartlet_disk_destroy(CMartletDisk *disk);

/* Resets the disk: no files, power on, counters and random numbers at their initial values. */
void cmartlet_disk_reset(CMartletDisk *disk);

/*
 * The number of operations that changed the disk or made changes durable since the disk was created or reset:
 * creating, writing, truncating, syncing and deleting files.
 */
int64_t cmartlet_disk_operation_count(CMartletDisk *disk);

/*
 * The power fails during operation number `operation` (0: never), counted as `cmartlet_disk_operation_count`
 * counts. The interrupted write may survive completely, in part or not at all. After that, calls that open, read,
 * change or lock files fail until `cmartlet_disk_restart` is called. Calls that close or unlock files succeed.
 */
void cmartlet_disk_cut_power_at(CMartletDisk *disk, int64_t operation);
bool cmartlet_disk_is_off(CMartletDisk *disk);

/*
 * Turns the power on again, even if it was not cut. Changes that are not synced are damaged, locks
 * and shared memory are lost, and calls on files that are still open fail until they are closed.
 */
void cmartlet_disk_restart(CMartletDisk *disk, CMartletDamage damage, uint64_t seed);

/* Simulates a kill of all processes: locks, shared memory and open files are lost, bytes remain. */
void cmartlet_disk_kill_processes(CMartletDisk *disk);

/* Sets the device characteristics (SQLITE_IOCAP_…). Initially SQLITE_IOCAP_POWERSAFE_OVERWRITE. */
void cmartlet_disk_set_characteristics(CMartletDisk *disk, int characteristics);

/* The number of open files, including those of dead processes. */
int cmartlet_disk_open_file_count(CMartletDisk *disk);

/* The number of operations that are not synced. */
int64_t cmartlet_disk_unsynced_count(CMartletDisk *disk);

/* The current size of a file, or -1 if it does not exist. */
int64_t cmartlet_disk_file_size(CMartletDisk *disk, const char *path);

/* Copies current bytes of a file. Returns their number. */
size_t cmartlet_disk_read(CMartletDisk *disk, const char *path, int64_t offset, void *bytes, size_t amount);

/* Overwrites bytes of a file without SQLite, and syncs the file. False if the file does not contain the range. */
bool cmartlet_disk_overwrite(
    CMartletDisk *disk, const char *path, int64_t offset, const void *bytes, size_t amount);

/* Calls fork. Swift does not offer it, because parts of its runtime do not work after a fork. */
int cmartlet_fork(void);

/* The bytes that the process has allocated and not freed. */
size_t cmartlet_memory_in_use(void);

#endif
