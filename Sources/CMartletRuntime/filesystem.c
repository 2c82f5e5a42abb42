#include "cmartlet_runtime.h"

#if defined(__linux__)
#include <sys/vfs.h>

int cmartlet_is_on_network(const char *folder) {
    struct statfs status;
    if (statfs(folder, &status) != 0) return 0;
    switch ((uint32_t)status.f_type) {
    case 0x6969:     /* NFS */
    case 0x517B:     /* SMB */
    case 0xFE534D42: /* SMB2 */
    case 0xFF534D42: /* CIFS */
    case 0x5346414F: /* AFS */
    case 0x01021997: /* 9P */
        return 1;
    default:
        return 0;
    }
}
#else
int cmartlet_is_on_network(const char *folder) {
    (void)folder;
    return 0;
}
#endif
