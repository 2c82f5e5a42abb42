#include "cmartlet_runtime.h"

// The Swift runtime's own.
extern void swift_release(void *object);

static pthread_key_t spare;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static _Thread_local uintptr_t counted;

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
