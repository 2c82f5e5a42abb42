#include "cmartlet_runtime.h"

#if defined(__APPLE__)
#include <dlfcn.h>
#include <mach-o/getsect.h>
#include <mach-o/dyld.h>

/* On Apple platforms, each image (the executable and each dynamic library) has its own section of registration
   functions. */
static const cmartlet_registration_function *section_of(uint32_t image, size_t *count) {
    unsigned long size = 0;
    const struct mach_header_64 *header = (const struct mach_header_64 *)_dyld_get_image_header(image);
    const uint8_t *data = header ? getsectiondata(header, "__DATA", "martlet_reg", &size) : 0;
    *count = data ? size / sizeof(cmartlet_registration_function) : 0;
    return (const cmartlet_registration_function *)data;
}

size_t cmartlet_registry_count(void) {
    size_t total = 0, count;
    for (uint32_t i = 0; i < _dyld_image_count(); i++) {
        section_of(i, &count);
        total += count;
    }
    return total;
}

cmartlet_registration_function cmartlet_registry_get(size_t index) {
    size_t count;
    for (uint32_t i = 0; i < _dyld_image_count(); i++) {
        const cmartlet_registration_function *functions = section_of(i, &count);
        if (index < count) return functions[index];
        index -= count;
    }
    return 0;
}
#else
/* For a section whose name is a C identifier, the linker defines these symbols. The symbols are weak, because a program
   without models has no such section. */
extern const cmartlet_registration_function __start_martlet_reg[] __attribute__((weak));
extern const cmartlet_registration_function __stop_martlet_reg[] __attribute__((weak));

size_t cmartlet_registry_count(void) {
    if (!__start_martlet_reg) return 0;
    return (size_t)(__stop_martlet_reg - __start_martlet_reg);
}

cmartlet_registration_function cmartlet_registry_get(size_t index) { return __start_martlet_reg[index]; }
#endif
