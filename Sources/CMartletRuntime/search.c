/* With this definition, <string.h> declares `memmem` on Linux. */
#define _GNU_SOURCE
#include "cmartlet_runtime.h"

#include <string.h>

bool cmartlet_contains(const void *bytes, size_t count, const void *pattern, size_t pattern_count) {
    return memmem(bytes, count, pattern, pattern_count) != NULL;
}
