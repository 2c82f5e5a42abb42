#include "cmartlet_runtime.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int cmartlet_forks = 0;

/* The descriptors of lock files. Guarded by `locks_guard`. */
static pthread_mutex_t locks_guard = PTHREAD_MUTEX_INITIALIZER;
static int *locks;
static int lock_count, lock_capacity;

void cmartlet_block_forks(void) { pthread_mutex_lock(&locks_guard); }

void cmartlet_unblock_forks(void) { pthread_mutex_unlock(&locks_guard); }

void cmartlet_add_lock(int descriptor) {
    if (lock_count == lock_capacity) {
        int capacity = lock_capacity ? 2 * lock_capacity : 16;
        int *larger = realloc(locks, (size_t)capacity * sizeof *locks);
        if (larger) locks = larger, lock_capacity = capacity;
    }
    if (lock_count < lock_capacity) locks[lock_count++] = descriptor;
}

bool cmartlet_remove_lock(int descriptor) {
    for (int i = 0; i < lock_count; i++) {
        if (locks[i] != descriptor) continue;
        locks[i] = locks[--lock_count];
        return true;
    }
    return false;
}

/* Opens a file to which the child redirects the descriptors of lock files. Returns the descriptor of this file, or -1
 * on failure. */
static int open_replacement(void) {
    int replacement = open("/dev/null", O_RDWR | O_CLOEXEC);
    return replacement >= 0 ? replacement : open("/", O_RDONLY | O_CLOEXEC);
}

/* A lock of `flock` ends when the last descriptor of the open file description is closed in all processes. If a child
 * kept its copies of the descriptors, the lock of a killed parent would last as long as the child. The child does not
 * free the descriptor numbers: the lock objects that the child inherited close these numbers later, and a freed number
 * could by then belong to another file. Except for the unlocking of the mutex, this function calls only
 * async-signal-safe functions. */
static void after_fork_in_child(void) {
    cmartlet_forks++;
    int replacement = lock_count > 0 ? open_replacement() : -1;
    if (replacement < 0 && lock_count > 0) {
        /* The process probably has no free descriptor, so the child closes a lock file to get one. */
        (void)close(locks[0]);
        replacement = open_replacement();
    }
    bool replacement_is_registered = false;
    for (int i = 0; i < lock_count; i++) {
        if (replacement < 0) {
            (void)close(locks[i]);
        } else if (locks[i] == replacement) {
            replacement_is_registered = true;
        } else {
            (void)dup2(replacement, locks[i]);
            (void)fcntl(locks[i], F_SETFD, FD_CLOEXEC);
        }
    }
    if (replacement < 0) lock_count = 0;
    if (replacement >= 0 && !replacement_is_registered) (void)close(replacement);
    cmartlet_unblock_forks();
}

// Registers the fork handlers, which also count the forks. With the count, code detects that it runs in a forked child.
// A call of getpid would cost more than most reads of a row.
__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(cmartlet_block_forks, cmartlet_unblock_forks, after_fork_in_child);
}
