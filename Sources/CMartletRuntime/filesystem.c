#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "cmartlet_runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int cmartlet_is_network_type(uint32_t type) {
    switch (type) {
    case 0x6969:     /* NFS */
    case 0x517B:     /* SMB */
    case 0xFE534D42: /* SMB2 */
    case 0xFF534D42: /* CIFS */
    case 0x5346414F: /* AFS */
    case 0x6B414653: /* AFS of the kernel */
    case 0x01021997: /* 9P */
    case 0x00C36400: /* Ceph */
    case 0x73757245: /* Coda */
    case 0x0BD00BD0: /* Lustre */
    case 0x564C:     /* NCP */
        return 1;
    default:
        return 0;
    }
}

#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/vfs.h>

int cmartlet_is_on_network(const char *folder) {
    struct statfs status;
    return statfs(folder, &status) == 0 && cmartlet_is_network_type((uint32_t)status.f_type);
}
#elif defined(__APPLE__)
#include <sys/mount.h>
#include <sys/param.h>

int cmartlet_is_on_network(const char *folder) {
    struct statfs status;
    return statfs(folder, &status) == 0 && (status.f_flags & MNT_LOCAL) == 0;
}
#else
int cmartlet_is_on_network(const char *folder) {
    (void)folder;
    return 0;
}
#endif

/* Gives a file a new name unless there is a file of that name; -1 with errno where that is not possible. */
int cmartlet_rename_exclusively(const char *from, const char *to) {
#if defined(__linux__)
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1 /* RENAME_NOREPLACE */) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
#elif defined(RENAME_EXCL)
    if (renamex_np(from, to, RENAME_EXCL) == 0) return 0;
    if (errno != ENOTSUP) return -1;
#endif
    /* File systems without it still make links one after the other. */
    if (link(from, to) != 0) return -1;
    return unlink(from);
}

/* Makes the names in a folder durable, as far as the file system can. */
void cmartlet_sync_folder(const char *folder) {
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
#if defined(F_FULLFSYNC)
    /* There fsync leaves what it wrote in the drive's cache. */
    if (fcntl(descriptor, F_FULLFSYNC) != 0)
#endif
        (void)fsync(descriptor);
    (void)close(descriptor);
}
