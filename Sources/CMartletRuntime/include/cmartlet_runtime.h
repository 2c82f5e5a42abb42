#ifndef CMARTLET_RUNTIME_H
#define CMARTLET_RUNTIME_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What identifies the calling thread while it lives. Declared free of side effects: Swift takes any other C call for one
/// that may release anything, and brackets every use of the accessor with a retain and a release.
static inline __attribute__((pure)) uintptr_t cmartlet_thread(void) {
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    return (uintptr_t)__builtin_thread_pointer();
#else
    /* Apple keeps other things than the thread's address in that register. */
    return (uintptr_t)pthread_self();
#endif
}

/// A number that no other thread of this process has had. Unlike `cmartlet_thread`, which a new thread may take over from one
/// that has ended.
static inline __attribute__((pure)) uint64_t cmartlet_thread_number(void);
extern _Thread_local uint64_t cmartlet_own_thread_number;
uint64_t cmartlet_choose_thread_number(void);
static inline uint64_t cmartlet_thread_number(void) {
    return cmartlet_own_thread_number ? cmartlet_own_thread_number : cmartlet_choose_thread_number();
}

/// What identifies the actor or other executor that the calling code runs on; null for none, as on a plain thread.
const void *cmartlet_current_executor(void);

/// The label of the queue that the calling code runs on; empty or that of a global queue where it runs on none of its own.
const char *cmartlet_current_queue_label(void);

/// Whether the calling code runs on the main queue, on whatever thread that is. Asked without leaving a mark on the queue:
/// Dispatch loses wake-ups of a main queue that is marked from another thread.
bool cmartlet_is_on_main_queue(void);

/// The run loop of the calling thread; the caller releases it with `cmartlet_run_loop_release`.
void *cmartlet_run_loop_retain_current(void);
void cmartlet_run_loop_release(void *loop);

/// Ends the wait of a run loop, on any thread, so that it performs the blocks that were added to it.
void cmartlet_run_loop_wake(void *loop);

/// Gives a run loop a source that never fires, so that it does not end for want of one. Returns the source.
void *cmartlet_run_loop_keep(void *loop);

/// Removes the source again and releases it, on any thread.
void cmartlet_run_loop_stop_keeping(void *source);
/// Whether two queues of Dispatch are of one kind: serial, concurrent, global or main.
bool cmartlet_are_queues_of_one_kind(const void *queue, const void *other);

/// An object that the calling thread keeps and that is released when the thread ends; null until there is one.
void *cmartlet_thread_spare(void);

/// Keeps another object, which is retained already, or none. What was kept before is the caller's to release.
void cmartlet_set_thread_spare(void *object);

/// Counts up a number that each thread has for itself. Not declared free of side effects: the number is asked for before and
/// after something that may count.
void cmartlet_thread_count(void);
uintptr_t cmartlet_thread_counted(void);

/// A function that a generated registry file places in a section of the binary.
typedef void (*cmartlet_registry_record)(void *context);

/// The records of all registry files linked into the program.
size_t cmartlet_registry_count(void);
cmartlet_registry_record cmartlet_registry_get(size_t index);

/// 1 when the folder lies on a network file system, 0 when not or not known.
int cmartlet_is_on_network(const char *folder);

/// 1 for the numbers by which Linux calls network file systems.
int cmartlet_is_network_type(uint32_t type);

/// Gives a file a new name unless there is a file of that name; -1 with `errno` set where that is not possible.
int cmartlet_rename_exclusively(const char *from, const char *to);

/// Creates a folder and those above it, for this user alone. What is there already stays as it is.
void cmartlet_create_folders(const char *path);

/// Creates an empty file less the umask, without opening it; -1 with `errno` set where there is one, or a link.
int cmartlet_create_file(const char *path, unsigned mode);

/// Gives a file beside a database the mode and the group of the database, and its owner where the process may do that. Does
/// nothing to links, to what has several names, and to files of other users. It opens neither of the files in a way that
/// could drop locks when it is closed.
void cmartlet_match_mode(const char *database, const char *path);

/// The same for a copy of a database, which its owner can read and write whatever the mode of the original.
void cmartlet_match_mode_of_copy(const char *original, const char *copy);

/// Makes the names in a folder durable, as far as the file system can.
void cmartlet_sync_folder(const char *folder);

/// How many forks lie between this process and the one that was started as a program. Declared free of side effects, as the
/// above; it is another in a forked child alone.
extern int cmartlet_forks;
static inline __attribute__((pure)) int cmartlet_fork_count(void) { return cmartlet_forks; }

/// Retains an object unless its deinitialisation has begun (the Swift runtime's own function behind weak references).
/// Returns the object or null.
void *swift_tryRetain(void *object);

#endif
