/*
 * Instruments that stand between SQLite and the disk in tests.
 *
 * - CMartletHookVFS passes every call on to another VFS. On the way it counts the call, tells a
 *   hook about it, and fails it if a fault says so.
 * - CMartletDisk is a disk in memory with a VFS of its own. Its power can be cut at any operation;
 *   what was not synced by then is damaged by seed.
 *
 * Both may be made many times, each under its own VFS name, so tests can run side by side; and a
 * hook VFS may stand on a disk. The calls are thread-safe. The disk is deterministic: the same calls,
 * bytes and seeds give the same damage. SQLite's own random numbers (`randomblob`, the salts of a WAL)
 * are not the disk's: they come from one generator of the process.
 *
 * The header names no SQLite type, so that Swift sees SQLite through one module only.
 */
#ifndef CMARTLET_TEST_VFS_H
#define CMARTLET_TEST_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CMARTLET_CLOSED_ENUM enum __attribute__((enum_extensibility(closed)))

/* The kinds of call that are told apart. `Any` stands for every kind that can fail. */
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

/* The part a file plays. Calls on shared memory count as calls on the main file. */
typedef CMARTLET_CLOSED_ENUM CMartletRole {
    CMartletRoleMain,
    CMartletRoleWal,
    CMartletRoleJournal,
    CMartletRoleOther,
    CMartletRoleAny,
} CMartletRole;

/* One call, as a hook sees it. `path` is valid during the hook only, and NULL for nameless files. */
typedef struct CMartletCallEvent {
    CMartletCall call;
    CMartletRole role;
    const char *path;
    int64_t offset; /* read, write: where; truncate: the new size; shm: first region or lock */
    int64_t amount; /* read, write: bytes; shm lock: how many locks */
    int flags;      /* open, sync, lock, shm lock: as SQLite passed them */
} CMartletCallEvent;

/* ---- The hook VFS ---------------------------------------------------------------------------- */

typedef struct CMartletHookVFS CMartletHookVFS;
typedef void (*CMartletHook)(void *context, const CMartletCallEvent *event);

/* A call that is to fail. */
typedef struct CMartletFault {
    CMartletCall call;
    CMartletRole role;
    int64_t at;    /* 1 is the next matching call */
    bool persists; /* fail every matching call from there on, not only that one */
    bool applied;  /* do the work, then report the failure all the same (not for open) */
    int result;    /* the SQLite result code; 0 takes the usual one for the call */
} CMartletFault;

/*
 * Registers a VFS called `name` over the VFS called `base` (NULL: "unix"). NULL if there is no such
 * base or the name is taken.
 */
CMartletHookVFS *cmartlet_hook_vfs_create(const char *name, const char *base);

/* Takes the VFS away again; refused (false) while files are open through it. */
bool cmartlet_hook_vfs_destroy(CMartletHookVFS *vfs);

/*
 * Sets the hook, which is told of every call of the kind before it is passed on; NULL takes it away.
 * The hook may use SQLite, also through this VFS: while it runs, its thread's calls are counted and
 * may fail, but tell no hook.
 *
 * Unfetch is the call to stop a checkpoint at: SQLite makes it after reading the header of the WAL
 * index, if that had changed, and before copying frames.
 */
void cmartlet_hook_vfs_set_hook(CMartletHookVFS *vfs, CMartletCall call, CMartletHook hook, void *context);

/* Arms a fault beside those already armed. False if there are eight. */
bool cmartlet_hook_vfs_add_fault(CMartletHookVFS *vfs, CMartletFault fault);
void cmartlet_hook_vfs_clear_faults(CMartletHookVFS *vfs);

/* How many calls were made to fail since the VFS was made. */
int64_t cmartlet_hook_vfs_fault_count(CMartletHookVFS *vfs);

/* How many calls of the kind and role were seen since the counters were last cleared. */
int64_t cmartlet_hook_vfs_call_count(CMartletHookVFS *vfs, CMartletCall call, CMartletRole role);
void cmartlet_hook_vfs_clear_counts(CMartletHookVFS *vfs);

/* How many files are open through the VFS. */
int cmartlet_hook_vfs_open_file_count(CMartletHookVFS *vfs);

/* ---- The disk whose power can be cut --------------------------------------------------------- */

typedef struct CMartletDisk CMartletDisk;

/*
 * What a power cut does to the writes, truncations, creations and deletions since the last sync.
 *
 *   Nothing  none survives
 *   Prefix   those before one point survive
 *   Subset   each survives or not by itself
 *   Torn     as Subset, and single 512-byte sectors are lost or turned to garbage
 *   Mixed    each file meets one of the above
 */
typedef CMARTLET_CLOSED_ENUM CMartletDamage {
    CMartletDamageNothing,
    CMartletDamagePrefix,
    CMartletDamageSubset,
    CMartletDamageTorn,
    CMartletDamageMixed,
} CMartletDamage;

/* Registers a VFS called `name` over an empty disk. NULL if the name is taken. */
CMartletDisk *cmartlet_disk_create(const char *name);

/* Takes disk and VFS away; refused (false) while files are open on it. */
bool cmartlet_disk_destroy(CMartletDisk *disk);

/* Makes the disk as new: no files, power on, counters and random numbers from the start. */
void cmartlet_disk_reset(CMartletDisk *disk);

/*
 * How many operations changed the disk or made changes durable: creating, writing, truncating,
 * syncing and deleting files.
 */
int64_t cmartlet_disk_operation_count(CMartletDisk *disk);

/*
 * The power goes off in the `operation`-th operation from the start (0: never). A write that is cut
 * may survive whole, in part or not at all. From then on every call fails until `restart`.
 */
void cmartlet_disk_cut_power_at(CMartletDisk *disk, int64_t operation);
bool cmartlet_disk_is_off(CMartletDisk *disk);

/*
 * Power comes back, now or after a cut: everything not synced is damaged, locks and shared memory
 * are gone, and files still open answer every call with an I/O error until they are closed.
 */
void cmartlet_disk_restart(CMartletDisk *disk, CMartletDamage damage, uint64_t seed);

/* As if all processes were killed: locks, shared memory and open files go, bytes stay as they are. */
void cmartlet_disk_kill_processes(CMartletDisk *disk);

/* What the disk says of itself (SQLITE_IOCAP_…); SQLITE_IOCAP_POWERSAFE_OVERWRITE at first. */
void cmartlet_disk_set_characteristics(CMartletDisk *disk, int characteristics);

/* Open files, those of dead processes included. */
int cmartlet_disk_open_file_count(CMartletDisk *disk);

/* Operations that a power cut now would put at risk. */
int64_t cmartlet_disk_unsynced_count(CMartletDisk *disk);

/* The size of a file's present bytes, or -1 if there is no such file. */
int64_t cmartlet_disk_file_size(CMartletDisk *disk, const char *path);

/* Copies present bytes out of a file; returns how many. */
size_t cmartlet_disk_read(CMartletDisk *disk, const char *path, int64_t offset, void *bytes, size_t amount);

/* Overwrites bytes of an existing file behind SQLite's back, durably. False if it has none there. */
bool cmartlet_disk_overwrite(
    CMartletDisk *disk, const char *path, int64_t offset, const void *bytes, size_t amount);

/* What Swift does not offer: its own runtime does not outlive a fork in all parts. */
int cmartlet_fork(void);

/* The bytes that the process has allocated and not freed. */
size_t cmartlet_memory_in_use(void);

#endif
