#include "cmartlet_runtime.h"

#include <stdatomic.h>

// The Swift runtime's own.
extern void swift_release(void *object);

static pthread_key_t spare;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static _Thread_local uintptr_t counted;

_Thread_local uint64_t cmartlet_own_thread_number;
static _Atomic uint64_t last_number;

uint64_t cmartlet_choose_thread_number(void) {
    cmartlet_own_thread_number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    return cmartlet_own_thread_number;
}

void cmartlet_thread_count(void) { counted += 1; }

uintptr_t cmartlet_thread_counted(void) { return counted; }

static void make_key(void) { pthread_key_create(&spare, swift_release); }

void *cmartlet_thread_spare(void) {
    pthread_once(&once, make_key);
    return pthread_getspecific(spare);
}

void cmartlet_set_thread_spare(void *object) {
    pthread_once(&once, make_key);
    pthread_setspecific(spare, object);
}
