#ifndef CMARTLET_RUNTIME_H
#define CMARTLET_RUNTIME_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A word that identifies the calling thread while it runs. The attribute `pure` says that the function releases no
/// objects. Without the attribute, each read of a property would retain the accessor before the call of this function,
/// and release it afterwards.
static inline __attribute__((pure)) uintptr_t cmartlet_thread(void) {
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    return (uintptr_t)__builtin_thread_pointer();
#else
    /* On Apple platforms the thread pointer register does not contain the address of the thread. */
    return (uintptr_t)pthread_self();
#endif
}

/// A number that identifies the calling thread and is never reused in this process. The word of `cmartlet_thread` may
/// be reused after the thread has ended.
static inline __attribute__((pure)) uint64_t cmartlet_thread_number(void);
extern _Thread_local uint64_t cmartlet_own_thread_number;
uint64_t cmartlet_assign_thread_number(void);
static inline uint64_t cmartlet_thread_number(void) {
    return cmartlet_own_thread_number ? cmartlet_own_thread_number : cmartlet_assign_thread_number();
}

/// The identity of the actor or other executor on which the calling code runs; null if there is none, as on a plain
/// thread.
const void *cmartlet_current_executor(void);

/// The label of the queue on which the calling code runs. On a thread without a queue, the label is empty or that of a
/// global queue.
const char *cmartlet_current_queue_label(void);

/// True if the calling code runs on the main queue, regardless of the thread. The function compares the labels of the
/// queues. It does not attach a queue-specific value to the main queue: if a thread other than the main thread attaches
/// one, the main queue loses wake-ups.
bool cmartlet_is_on_main_queue(void);

/// The run loop of the calling thread. The caller releases it with `cmartlet_run_loop_release`.
void *cmartlet_run_loop_retain_current(void);
void cmartlet_run_loop_release(void *loop);

/// Wakes a run loop from any thread, so that it performs the blocks that were added to it.
void cmartlet_run_loop_wake(void *loop);

/// Adds to a run loop a source that never fires, so that the run loop does not end for lack of sources. Returns the
/// source.
void *cmartlet_run_loop_add_idle_source(void *loop);

/// Removes the source and releases it. Can be called on any thread.
void cmartlet_run_loop_remove_source(void *source);

/// True if two Dispatch queues are of the same kind: serial, concurrent, global or main.
bool cmartlet_are_queues_of_one_kind(const void *queue, const void *other);

/// An object that is stored for the calling thread and released when the thread ends; null if none is stored.
void *cmartlet_thread_object(void);

/// Stores an object, which the caller has retained, or null. The caller must release the previously stored object.
void cmartlet_set_thread_object(void *object);

/// Counts, for the calling thread, how often the hash of a `ReadRegistrar.Probe` was computed. With this count,
/// `ReadRegistrar` detects whether Observation is tracking reads. `cmartlet_probe_hash_count` is not declared pure,
/// because its caller compares the values before and after code that may increment the count.
void cmartlet_increment_probe_hash_count(void);
uintptr_t cmartlet_probe_hash_count(void);

/// A function of a generated file that registers classes (a registry file). The file stores a pointer to the function
/// in a section of the binary.
typedef void (*cmartlet_registration_function)(void *context);

/// The registration functions of all registry files that are linked into the program.
size_t cmartlet_registry_count(void);
cmartlet_registration_function cmartlet_registry_get(size_t index);

/// 1 if the folder is on a network file system, 0 if not or unknown.
int cmartlet_is_on_network(const char *folder);

/// 1 for the type numbers of network file systems on Linux.
int cmartlet_is_network_type(uint32_t type);

/// Renames a file unless a file with the new name exists. Returns -1 and sets `errno` on failure; `errno` is EEXIST if
/// a file with the new name exists.
int cmartlet_rename_exclusively(const char *from, const char *to);

/// Creates a folder and its parents, accessible to this user only. Existing folders are unchanged.
void cmartlet_create_folders(const char *path);

/// Creates an empty file with a mode, reduced by the umask. On Linux, the function does not open the file. Returns -1
/// and sets `errno` on failure. It fails if a file or a link with this path exists.
int cmartlet_create_file(const char *path, unsigned mode);

/// Gives a file beside a database the mode and the group of the database and, if the process runs as root, also the
/// owner. Ignores symbolic links and files with several hard links. Ignores files of other users unless the process
/// runs as root. Does not open the file for reading or writing: closing such a descriptor could drop locks of the
/// process.
void cmartlet_match_permissions(const char *database, const char *path);

/// Like `cmartlet_match_permissions`, for a copy of a database. The owner of the copy can always read and write it.
void cmartlet_match_permissions_of_copy(const char *original, const char *copy);

/// Writes the entries of a folder to the disk, if the file system supports that. New, renamed and deleted files in the
/// folder then survive a power loss.
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
/// not registered. In this case, do not close it: if a forked child cannot open another file for a descriptor, the fork
/// handler closes the descriptor.
bool cmartlet_remove_lock(int descriptor);

/// Retains an object unless its deinitialization has begun. The Swift runtime implements weak references with this
/// function. Returns the object or null.
void *swift_tryRetain(void *object);

/// True if the bytes contain the pattern. Takes linear time for all bytes and patterns.
bool cmartlet_contains(const void *bytes, size_t count, const void *pattern, size_t pattern_count);

#endif
