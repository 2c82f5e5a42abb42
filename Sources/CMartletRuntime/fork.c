#include "cmartlet_runtime.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int cmartlet_forks = 0;

/* The descriptors of lock files. Guarded by `locks_guard`. */
static pthread_mutex_t locks_guard = PTHREAD_MUTEX_INITIALIZER;
static int *locks;
static int lock_count, lock_capacity;

void cmartlet_add_lock(int descriptor) {
    pthread_mutex_lock(&locks_guard);
    if (lock_count == lock_capacity) {
        int capacity = lock_capacity ? 2 * lock_capacity : 16;
        int *larger = realloc(locks, (size_t)capacity * sizeof *locks);
        if (larger) locks = larger, lock_capacity = capacity;
    }
    if (lock_count < lock_capacity) locks[lock_count++] = descriptor;
    pthread_mutex_unlock(&locks_guard);
}

void cmartlet_remove_lock(int descriptor) {
    pthread_mutex_lock(&locks_guard);
    for (int i = 0; i < lock_count; i++) {
        if (locks[i] != descriptor) continue;
        locks[i] = locks[--lock_count];
        break;
    }
    pthread_mutex_unlock(&locks_guard);
}

static void before_fork(void) { pthread_mutex_lock(&locks_guard); }

static void after_fork(void) { pthread_mutex_unlock(&locks_guard); }

/* A lock of `flock` ends when all descriptors of the open file are closed. If a child kept its copies, the lock of a
 * parent that is killed would last as long as the child. The descriptors stay open, so that no other file of the
 * child gets their numbers: inherited objects close these numbers. Calls only functions that are safe in the child of a
 * process with threads. */
static void after_fork_in_child(void) {
    cmartlet_forks++;
    int nothing = lock_count > 0 ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
    for (int i = 0; nothing >= 0 && i < lock_count; i++) {
        (void)dup2(nothing, locks[i]);
        (void)fcntl(locks[i], F_SETFD, FD_CLOEXEC);
    }
    if (nothing >= 0) (void)close(nothing);
    lock_count = 0;
    pthread_mutex_unlock(&locks_guard);
}

// Counts forks so that a forked child is detected without getpid, which costs more than most reads of a row.
__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
