#include "cmartlet_runtime.h"

// The runtime uses these functions of Core Foundation instead of Foundation's RunLoop. On Linux, the timers of
// Foundation are never freed, and blocks that are added to a RunLoop do not wake it. These functions are declared here
// as in CFBase.h and CFRunLoop.h, because these headers are not on the include path of C targets on all platforms.
typedef struct {
    long version;
    void *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
    const void *(*copyDescription)(const void *info);
    unsigned char (*equal)(const void *first, const void *second);
    unsigned long (*hash)(const void *info);
    void (*schedule)(void *info, void *loop, const void *mode);
    void (*cancel)(void *info, void *loop, const void *mode);
    void (*perform)(void *info);
} source_context;

extern const void *const kCFRunLoopCommonModes;
extern void *CFRetain(const void *object);
extern void CFRelease(const void *object);
extern void *CFRunLoopGetCurrent(void);
extern void CFRunLoopWakeUp(void *loop);
extern void *CFRunLoopSourceCreate(const void *allocator, long order, source_context *context);
extern void CFRunLoopSourceInvalidate(void *source);
extern void CFRunLoopAddSource(void *loop, void *source, const void *mode);

static void perform_nothing(void *info) { (void)info; }

void *cmartlet_run_loop_retain_current(void) { return CFRetain(CFRunLoopGetCurrent()); }

void cmartlet_run_loop_release(void *loop) { CFRelease(loop); }

void cmartlet_run_loop_wake(void *loop) { CFRunLoopWakeUp(loop); }

void *cmartlet_run_loop_add_idle_source(void *loop) {
    source_context context = {.perform = perform_nothing};
    void *source = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(loop, source, kCFRunLoopCommonModes);
    return source;
}

void cmartlet_run_loop_remove_source(void *source) {
    CFRunLoopSourceInvalidate(source);
    CFRelease(source);
}
