#include "cmartlet_runtime.h"
#include <stdbool.h>

// The result of `swift_task_getCurrentExecutor`. The first word identifies the executor. The function
// `swift_task_getCurrentExecutor` never traps, unlike the functions of the Swift runtime that check an executor.
struct cmartlet_executor {
    void *identity;
    void *implementation;
};

__attribute__((swiftcall)) extern struct cmartlet_executor swift_task_getCurrentExecutor(void);

// Declared here because the header of Dispatch is not on the include path of C targets on all platforms.
extern const char *dispatch_queue_get_label(void *queue);

extern struct cmartlet_main_queue _dispatch_main_q;

const char *cmartlet_current_queue_label(void) { return dispatch_queue_get_label(NULL); }

bool cmartlet_is_on_main_queue(void) {
    return dispatch_queue_get_label(NULL) == dispatch_queue_get_label(&_dispatch_main_q);
}

const void *cmartlet_current_executor(void) { return swift_task_getCurrentExecutor().identity; }

/* The first word of a Dispatch object identifies the kind of the object. */
bool cmartlet_are_queues_of_one_kind(const void *queue, const void *other) {
    return *(void *const *)queue == *(void *const *)other;
}
