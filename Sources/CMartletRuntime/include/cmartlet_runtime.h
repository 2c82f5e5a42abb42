#ifndef CMARTLET_RUNTIME_H
#define CMARTLET_RUNTIME_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A word that identifies the calling thread while the thread runs. The attribute `pure` declares that the function
/// releases no objects. Each read of a property calls this function. Without the attribute, the compiler would retain
/// the accessor before each call and release it afterwards.
static inline __attribute__((pure)) uintptr_t cmartlet_thread(void) {
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    return (uintptr_t)__builtin_thread_pointer();
#else
    /* On Apple platforms the thread pointer register does not contain the address of the thread. */
    return (uintptr_t)pthread_self();
#endif
}

/// A number that identifies the calling thread and is never reused in this process. In contrast, the word that
/// `cmartlet_thread` returns may identify another thread after this thread has ended.
static inline __attribute__((pure)) uint64_t cmartlet_thread_number(void);
extern _Thread_local uint64_t cmartlet_own_thread_number;
uint64_t cmartlet_assign_thread_number(void);
static inline uint64_t cmartlet_thread_number(void) {
    return cmartlet_own_thread_number ? cmartlet_own_thread_number : cmartlet_assign_thread_number();
}

/// The word that contains the reference counts of a Swift object. It follows the pointer to the class. Two objects have
/// equal words if they have the same numbers of strong, unowned and weak references.
static inline uintptr_t cmartlet_reference_counts(const void *object) {
    return __atomic_load_n((const uintptr_t *)object + 1, __ATOMIC_ACQUIRE);
}

/// Returns the identity of the executor on which the calling code runs, for example an actor. Returns null on a thread
/// that runs no executor.
const void *cmartlet_current_executor(void);

/// The label of the queue on which the calling code runs. On a thread that runs no queue, the label is empty or the
/// label of a global queue.
const char *cmartlet_current_queue_label(void);

/// True if the calling code runs on the main queue, regardless of the thread. The function compares the labels of the
/// queues. It does not attach a queue-specific value to the main queue: if a thread other than the main thread attaches
/// one, the main queue loses wake-ups.
bool cmartlet_is_on_main_queue(void);

/// Returns the run loop of the calling thread, retained. The caller releases the run loop with
/// `cmartlet_run_loop_release`.
void *cmartlet_run_loop_retain_current(void);
void cmartlet_run_loop_release(void *loop);

/// Wakes a run loop, so that the run loop performs the blocks that were added to it. Can be called on any thread.
void cmartlet_run_loop_wake(void *loop);

/// Adds to a run loop a source that never fires, so that the run loop does not end for lack of sources. Returns the
/// source.
void *cmartlet_run_loop_add_idle_source(void *loop);

/// Removes from its run loop a source that `cmartlet_run_loop_add_idle_source` returned, and releases the source. Can
/// be called on any thread.
void cmartlet_run_loop_remove_source(void *source);

/// True if two Dispatch queues are of the same kind: serial, concurrent, global or main.
bool cmartlet_are_queues_of_one_kind(const void *queue, const void *other);

/// Returns the object that is stored for the calling thread, or null if none is stored. The object is released when the
/// thread ends.
void *cmartlet_thread_object(void);

/// Stores an object or null for the calling thread. The caller must retain the object first, and must release the
/// previously stored object.
void cmartlet_set_thread_object(void *object);

/// The number of times that the hash of a `ReadRegistrar.Probe` was computed on the calling thread. The first function
/// increments the number, and the second returns it. With this number, `ReadRegistrar` detects whether Observation is
/// tracking reads. `cmartlet_probe_hash_count` is not declared pure, because its caller calls it before and after code
/// that may increment the number, and compares the two results.
void cmartlet_increment_probe_hash_count(void);
uintptr_t cmartlet_probe_hash_count(void);

/// A function of a generated file that registers classes (a registry file). The registry file stores a pointer to the
/// function in a section of the binary.
typedef void (*cmartlet_registration_function)(void *context);

/// The number of registry files that are linked into the program, and the registration function of each of them.
size_t cmartlet_registry_count(void);
cmartlet_registration_function cmartlet_registry_get(size_t index);

/// Returns the bytes of memory that this process may use: the memory of the machine, or less if the process is in a
/// control group with a limit.
uint64_t cmartlet_memory_limit(void);

/// Returns 1 if the folder is on a network file system. Returns 0 if the folder is on a local file system, or if the
/// kind of the file system is unknown.
int cmartlet_is_on_network(const char *folder);

/// Returns 1 if `type` is the number that Linux assigns to a network file system, and 0 otherwise.
int cmartlet_is_network_type(uint32_t type);

/// Acquires a shared lock on one byte of an open file. The lock belongs to the open file and not to the process: it is
/// released when the last descriptor of the open file is closed. The byte may be beyond the end of the file. Returns -1
/// and sets `errno` on failure, and on systems without such locks (open file description locks).
int cmartlet_lock_byte(int descriptor, int64_t offset);

/// Returns 1 if a lock of another open file covers one of the `count` bytes from `start`. Returns 0 if there is no such
/// lock, and -1 if the locks cannot be determined.
int cmartlet_are_bytes_locked(int descriptor, int64_t start, int64_t count);

/// Renames a file unless a file with the new name exists. Returns -1 and sets `errno` on failure; `errno` is EEXIST if
/// a file with the new name exists.
int cmartlet_rename_exclusively(const char *from, const char *to);

/// Creates a folder and its parents, which only the current user can access. Does not change folders that exist.
void cmartlet_create_folders(const char *path);

/// Creates an empty file whose mode is `mode` reduced by the umask. On Linux, the function does not open the file,
/// because closing the descriptor could drop locks of the process. Returns -1 and sets `errno` on failure. The function
/// fails if a file or a link with this path exists.
int cmartlet_create_file(const char *path, unsigned mode);

/// Gives a file beside a database the mode and the group of the database and, if the process runs as root, also the
/// owner. Ignores symbolic links and files with several hard links. If the process does not run as root, also ignores
/// files of other users. Does not open the file for reading or writing: closing such a descriptor could drop locks of
/// the process.
void cmartlet_match_permissions(const char *database, const char *path);

/// Does the same as `cmartlet_match_permissions` for a copy of a database. In addition, the owner of the copy can
/// always read and write it.
void cmartlet_match_permissions_of_copy(const char *original, const char *copy);

/// Writes the entries of a folder to the disk, if the file system supports that. Creations, renamings and deletions of
/// files in the folder then survive a power loss.
void cmartlet_sync_folder(const char *folder);

/// The number of forks that led to this process; zero in the process in which the program was started. The function is
/// declared pure because the number never changes within a process.
extern int cmartlet_forks;
static inline __attribute__((pure)) int cmartlet_fork_count(void) { return cmartlet_forks; }

/// Makes every fork of another thread wait until `cmartlet_unblock_forks` is called. Between the two calls, the caller
/// opens, registers or closes a lock file, and must not fork.
void cmartlet_block_forks(void);
void cmartlet_unblock_forks(void);

/// Registers the descriptor of a lock file. In a forked child, the descriptor refers to another file instead, so that
/// the child does not keep the lock of its parent.
void cmartlet_add_lock(int descriptor);

/// Removes the registration of a descriptor. Call it before closing the descriptor. Returns false if the descriptor is
/// not registered. In this case, do not close the descriptor, because the fork handler has closed it. The fork handler
/// closes a descriptor in a forked child if it cannot open another file for the descriptor.
bool cmartlet_remove_lock(int descriptor);

/// A function that the Swift runtime uses for weak references. Retains and returns an object, or returns null if the
/// deinitialization of the object has begun.
void *swift_tryRetain(void *object);

/// True if the bytes contain the pattern. Takes linear time for any bytes and any pattern.
bool cmartlet_contains(const void *bytes, size_t count, const void *pattern, size_t pattern_count);

#endif
