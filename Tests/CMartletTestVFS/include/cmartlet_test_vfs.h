/*
 * VFS implementations for tests, between SQLite and the disk.
 *
 * - CMartletHookVFS forwards every call to another VFS, its base. It counts the call, calls a hook, and
 *   lets the call fail if a fault matches.
 * - CMartletDisk is a disk in memory with its own VFS. A test can cut its power at any operation. The
 *   power cut damages the data that was not synced before. A seed determines the damage.
 *
 * A test can create any number of hook VFSs and disks, each with its own VFS name, so tests can run in
 * parallel. The base of a hook VFS can be the VFS of a disk. The functions are thread-safe. The disk is
 * deterministic: the same calls, bytes and seeds cause the same damage. SQLite's own random numbers, such
 * as `randomblob` and the salts of a WAL, are not deterministic: all VFSs of the process share their generator.
 *
 * This header uses no SQLite type, so that Swift imports SQLite from one module only.
 */
#ifndef CMARTLET_TEST_VFS_H
#define CMARTLET_TEST_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CMARTLET_CLOSED_ENUM enum __attribute__((enum_extensibility(closed)))

/* The kinds of calls. `Any` means every kind that can fail: all except Unlock, ShmUnlock, Unfetch and Close. */
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

/* Makes one call fail, or this call and all later matching calls. */
typedef struct CMartletFault {
    CMartletCall call;
    CMartletRole role;
    int64_t at;    /* the number of the matching call that fails; 1 is the next one */
    bool persists; /* all later matching calls fail, too */
    bool applied;  /* the call is executed before the failure is reported (no effect on Open) */
    int result;    /* the SQLite result code that is reported; 0: the usual code for the kind of call */
} CMartletFault;

/*
 * Registers a VFS with the name `name` over the VFS with the name `base` (NULL: "unix"). Returns NULL if
 * the base does not exist or the name is in use.
 */
CMartletHookVFS *cmartlet_hook_vfs_create(const char *name, const char *base);

/* Unregisters and frees the VFS. Does nothing and returns false if files are open through the VFS. */
bool cmartlet_hook_vfs_destroy(CMartletHookVFS *vfs);

/*
 * Sets the hook that runs before a call of the kind is forwarded. A NULL hook removes the previous hook.
 * The hook may use SQLite, also through this VFS. While the hook runs, calls of its thread are counted and
 * may fail, but do not run hooks.
 *
 * A hook on Unfetch can interrupt a checkpoint. If the header of the WAL index has changed, SQLite calls
 * xUnfetch after it has read the header and before it copies frames.
 */
void cmartlet_hook_vfs_set_hook(CMartletHookVFS *vfs, CMartletCall call, CMartletHook hook, void *context);

/* Adds a fault. Returns false if the VFS already has eight faults. */
bool cmartlet_hook_vfs_add_fault(CMartletHookVFS *vfs, CMartletFault fault);
void cmartlet_hook_vfs_clear_faults(CMartletHookVFS *vfs);

/* The number of calls that failed because of a fault since the VFS was created. */
int64_t cmartlet_hook_vfs_failed_call_count(CMartletHookVFS *vfs);

/* The number of calls of the kind and role since the counts were last cleared. */
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
 *   Prefix   the changes up to a random operation survive, in all files
 *   Subset   each change survives or not, independently of the others
 *   Torn     like Subset, and single 512-byte sectors of writes are lost or replaced by garbage
 *   Mixed    one of the above at random for each file
 *
 * AllLost also undoes each creation or deletion of a file since the last sync. With the other kinds of damage, the
 * creation or deletion survives or not, independently of the writes.
 */
typedef CMARTLET_CLOSED_ENUM CMartletDamage {
    CMartletDamageAllLost,
    CMartletDamagePrefix,
    CMartletDamageSubset,
    CMartletDamageTorn,
    CMartletDamageMixed,
} CMartletDamage;

/* Registers a VFS with the name `name` over an empty disk. Returns NULL if the name is in use. */
CMartletDisk *cmartlet_disk_create(const char *name);

/* Frees the disk and unregisters its VFS. Does nothing and returns false if files are open on the disk. */
bool cmartlet_disk_destroy(CMartletDisk *disk);

/* Removes all files, turns the power on, and resets the operation count, the clock and the random numbers. */
void cmartlet_disk_reset(CMartletDisk *disk);

/*
 * The number of operations that changed the disk or made changes durable since the disk was created or reset:
 * creating, writing, truncating, syncing and deleting files.
 */
int64_t cmartlet_disk_operation_count(CMartletDisk *disk);

/*
 * Cuts the power during the operation with the number `operation` (0: never). `cmartlet_disk_operation_count` counts
 * the operations. An interrupted write may survive completely, in part or not at all. After the power cut, calls that
 * open, read, change or lock files fail until `cmartlet_disk_restart` is called. Calls that close or unlock files
 * succeed.
 */
void cmartlet_disk_cut_power_at(CMartletDisk *disk, int64_t operation);
bool cmartlet_disk_is_off(CMartletDisk *disk);

/*
 * Simulates a power cut, even if the power is still on, and turns the power on again. Changes that are not synced
 * are damaged, and locks and shared memory are lost. Calls that read, change or lock files that are still open fail.
 */
void cmartlet_disk_restart(CMartletDisk *disk, CMartletDamage damage, uint64_t seed);

/* Simulates a kill of all processes: locks, shared memory and open files are lost, and the bytes of files remain. */
void cmartlet_disk_kill_processes(CMartletDisk *disk);

/* Sets the device characteristics (SQLITE_IOCAP_…). Initially SQLITE_IOCAP_POWERSAFE_OVERWRITE. */
void cmartlet_disk_set_characteristics(CMartletDisk *disk, int characteristics);

/* The number of open files, including those of dead processes. */
int cmartlet_disk_open_file_count(CMartletDisk *disk);

/* The number of writes, truncations, creations and deletions that are not synced. */
int64_t cmartlet_disk_unsynced_count(CMartletDisk *disk);

/* The current size of a file, or -1 if it does not exist. */
int64_t cmartlet_disk_file_size(CMartletDisk *disk, const char *path);

/* Copies at most `amount` bytes of a file's current content from `offset` on. Returns the number of copied bytes. */
size_t cmartlet_disk_read(CMartletDisk *disk, const char *path, int64_t offset, void *bytes, size_t amount);

/* Overwrites bytes of a file without SQLite, and syncs the file. Returns false if the range exceeds the file. */
bool cmartlet_disk_overwrite(
    CMartletDisk *disk, const char *path, int64_t offset, const void *bytes, size_t amount);

/* Calls fork. Swift makes fork unavailable, because parts of its runtime do not work after a fork. */
int cmartlet_fork(void);

/* The bytes that the process has allocated and not freed. */
size_t cmartlet_memory_in_use(void);

#endif
