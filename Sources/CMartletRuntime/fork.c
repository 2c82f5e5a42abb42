#include "cmartlet_runtime.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int cmartlet_forks = 0;

/* The descriptors of lock files. Guarded by `locks_guard`. */
static pthread_mutex_t locks_guard = PTHREAD_MUTEX_INITIALIZER;
static int *locks;
static int lock_count, lock_capacity;

void cmartlet_hold_forks(void) { pthread_mutex_lock(&locks_guard); }

void cmartlet_allow_forks(void) { pthread_mutex_unlock(&locks_guard); }

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

/* A file of the child that can replace the lock files; -1 if none can be opened. */
static int open_nothing(void) {
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    return nothing >= 0 ? nothing : open("/", O_RDONLY | O_CLOEXEC);
}

/* A lock of `flock` ends when all descriptors of the open file are closed. If a child kept its copies, the lock of a
 * parent that is killed would last as long as the child. The descriptors stay open, so that no other file of the
 * child gets their numbers: inherited objects close these numbers. Calls only functions that are safe in the child of a
 * process with threads. */
static void after_fork_in_child(void) {
    cmartlet_forks++;
    int nothing = lock_count > 0 ? open_nothing() : -1;
    if (nothing < 0 && lock_count > 0) {
        /* The process has no descriptors left. */
        (void)close(locks[0]);
        nothing = open_nothing();
    }
    bool is_registered = false;
    for (int i = 0; i < lock_count; i++) {
        if (nothing < 0) {
            (void)close(locks[i]);
        } else if (locks[i] == nothing) {
            is_registered = true;
        } else {
            (void)dup2(nothing, locks[i]);
            (void)fcntl(locks[i], F_SETFD, FD_CLOEXEC);
        }
    }
    if (nothing < 0) lock_count = 0;
    if (nothing >= 0 && !is_registered) (void)close(nothing);
    cmartlet_allow_forks();
}

// Counts forks so that a forked child is detected without getpid, which costs more than most reads of a row.
__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(cmartlet_hold_forks, cmartlet_allow_forks, after_fork_in_child);
}
