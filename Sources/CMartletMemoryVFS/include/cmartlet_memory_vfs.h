/* A SQLite VFS whose files are in the memory of this process. The paths of these files exist only in this VFS, not in
   any file system. */
#ifndef CMARTLET_MEMORY_VFS_H
#define CMARTLET_MEMORY_VFS_H

#include <stdbool.h>
#include <stdint.h>

/* The name of this VFS, for `sqlite3_open_v2`. The first call of this function registers the VFS. */
const char *cmartlet_memory_vfs_name(void);

/* The name of the VFS that SQLite uses by default. */
const char *cmartlet_default_vfs_name(void);

/* A number that identifies the file and is never reused in this process; 0 if there is no file at the path. */
uint64_t cmartlet_memory_file_number(const char *path);

/* The size of the file at the path in bytes, or -1 if there is no file at the path. */
int64_t cmartlet_memory_file_size(const char *path);

/* Removes the file at the path. SQLite connections that have opened the file can still use it. The file is freed when
   the last of these connections is closed. */
void cmartlet_memory_file_remove(const char *path);

/* Renames the file at `from` if there is no file at `to`. Returns true if the file was renamed. */
bool cmartlet_memory_file_rename(const char *from, const char *to);

/* For tests: the number of all files, with or without a path. */
int64_t cmartlet_memory_file_count(void);
/* For tests: the total size of the allocated blocks of all files in bytes. */
int64_t cmartlet_memory_byte_count(void);

#endif
