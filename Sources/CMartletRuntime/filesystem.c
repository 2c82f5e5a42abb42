#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "cmartlet_runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cmartlet_is_network_type(uint32_t type) {
    switch (type) {
    case 0x6969:     /* NFS */
    case 0x517B:     /* SMB */
    case 0xFE534D42: /* SMB2 */
    case 0xFF534D42: /* CIFS */
    case 0x5346414F: /* AFS */
    case 0x6B414653: /* AFS, as mounted by the Linux kernel */
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

#if defined(__linux__)
static int lock_bytes(int descriptor, int command, struct flock *lock) {
    int done;
    do done = fcntl(descriptor, command, lock);
    while (done != 0 && errno == EINTR);
    return done;
}

int cmartlet_lock_byte(int descriptor, int64_t offset) {
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
    return lock_bytes(descriptor, F_OFD_SETLK, &lock);
}

int cmartlet_are_bytes_locked(int descriptor, int64_t start, int64_t count) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = count};
    if (lock_bytes(descriptor, F_OFD_GETLK, &lock) != 0) return -1;
    return lock.l_type != F_UNLCK;
}
#else
int cmartlet_lock_byte(int descriptor, int64_t offset) {
    (void)descriptor, (void)offset;
    errno = ENOTSUP;
    return -1;
}

int cmartlet_are_bytes_locked(int descriptor, int64_t start, int64_t count) {
    (void)descriptor, (void)start, (void)count;
    return -1;
}
#endif

int cmartlet_rename_exclusively(const char *from, const char *to) {
#if defined(__linux__)
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1 /* RENAME_NOREPLACE */) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
#elif defined(RENAME_EXCL)
    if (renamex_np(from, to, RENAME_EXCL) == 0) return 0;
    if (errno != ENOTSUP) return -1;
#endif
    /* This file system cannot rename exclusively. Create a second hard link to the file, which fails if the new name
       exists, and then remove the old name. */
    if (link(from, to) == 0) return unlink(from);
    if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS) return -1;
    /* This file system has no hard links. The caller holds a lock, so no other process creates the file between the
       check and the renaming. */
    if (access(to, F_OK) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

void cmartlet_sync_folder(const char *folder) {
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
#if defined(F_FULLFSYNC)
    /* On Apple platforms, fsync can leave data in the cache of the drive. */
    if (fcntl(descriptor, F_FULLFSYNC) != 0)
#endif
        (void)fsync(descriptor);
    (void)close(descriptor);
}

int cmartlet_create_file(const char *path, unsigned mode) {
#if defined(__linux__)
    /* mknod creates the file without opening it. If this function opened the file, closing the descriptor would drop
       the POSIX locks of this process on the database. */
    return mknod(path, S_IFREG | (mode_t)mode, 0);
#else
    int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode);
    return descriptor < 0 ? -1 : close(descriptor);
#endif
}

static int is_plain(const struct stat *status) { return S_ISREG(status->st_mode) && status->st_nlink == 1; }

static void match_permissions(const char *original, const char *path, mode_t needed) {
    struct stat wanted, found;
    if (stat(original, &wanted) != 0 || lstat(path, &found) != 0 || !is_plain(&found)) return;
    int is_root = geteuid() == 0;
    mode_t mode = (wanted.st_mode & 0777) | needed;
    int ownership_matches = found.st_gid == wanted.st_gid && (!is_root || found.st_uid == wanted.st_uid);
    if (ownership_matches && (found.st_mode & 07777) == mode) return;
    if (!is_root && found.st_uid != geteuid()) return;
    uid_t owner = is_root ? wanted.st_uid : (uid_t)-1;
#if defined(__linux__)
    /* Another process may have replaced the file at the path since the check above, so the file is opened and checked
       again. A descriptor opened with O_PATH reads nothing, and closing it drops no lock. */
    int descriptor = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) return;
    if (fstat(descriptor, &found) == 0 && is_plain(&found)) {
        char link[32];
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        /* If the group cannot be set, the permissions of the group are removed. */
        if (!ownership_matches && fchownat(descriptor, "", owner, wanted.st_gid, AT_EMPTY_PATH) != 0)
            mode &= ~(mode_t)0070;
        (void)chmod(link, mode);
    }
    (void)close(descriptor);
#else
    if (!ownership_matches && lchown(path, owner, wanted.st_gid) != 0) mode &= ~(mode_t)0070;
    (void)fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW);
#endif
}

void cmartlet_match_permissions(const char *database, const char *path) { match_permissions(database, path, 0); }

void cmartlet_match_permissions_of_copy(const char *original, const char *copy) {
    match_permissions(original, copy, S_IRUSR | S_IWUSR);
}

void cmartlet_create_folders(const char *path) {
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof part) return;
    for (size_t end = 1; end <= length; end++) {
        if (path[end] != '/' && path[end] != 0) continue;
        memcpy(part, path, end);
        part[end] = 0;
        (void)mkdir(part, 0700);
    }
}
