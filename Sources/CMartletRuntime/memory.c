#include "cmartlet_runtime.h"

#include <stdio.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#if defined(__linux__)
// Returns the number in a file. Returns `otherwise` if the file does not exist, or if its text is not a number, for
// example "max".
static uint64_t number_in(const char *path, uint64_t otherwise) {
    unsigned long long number = 0;
    FILE *file = fopen(path, "re");
    if (!file) return otherwise;
    const int found = fscanf(file, "%llu", &number);
    fclose(file);
    return found == 1 ? number : otherwise;
}
#endif

uint64_t cmartlet_memory_limit(void) {
#if defined(__APPLE__)
    uint64_t memory = 0;
    size_t size = sizeof memory;
    return sysctlbyname("hw.memsize", &memory, &size, NULL, 0) == 0 ? memory : 0;
#else
    const long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);
    uint64_t memory = pages > 0 && page_size > 0 ? (uint64_t)pages * (uint64_t)page_size : 0;
#if defined(__linux__)
    const char *files[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (int i = 0; i < 2; i++) {
        const uint64_t limit = number_in(files[i], memory);
        if (limit < memory) memory = limit;
    }
#endif
    return memory;
#endif
}
