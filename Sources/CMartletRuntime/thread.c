#include "cmartlet_runtime.h"

#include <stdatomic.h>

// A function of the Swift runtime.
extern void swift_release(void *object);

static pthread_key_t object_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static _Thread_local uintptr_t probe_hash_count;

_Thread_local uint64_t cmartlet_own_thread_number;
static _Atomic uint64_t last_number;

uint64_t cmartlet_assign_thread_number(void) {
    cmartlet_own_thread_number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    return cmartlet_own_thread_number;
}

void cmartlet_increment_probe_hash_count(void) { probe_hash_count += 1; }

uintptr_t cmartlet_probe_hash_count(void) { return probe_hash_count; }

static void make_key(void) { pthread_key_create(&object_key, swift_release); }

void *cmartlet_thread_object(void) {
    pthread_once(&once, make_key);
    return pthread_getspecific(object_key);
}

void cmartlet_set_thread_object(void *object) {
    pthread_once(&once, make_key);
    pthread_setspecific(object_key, object);
}
