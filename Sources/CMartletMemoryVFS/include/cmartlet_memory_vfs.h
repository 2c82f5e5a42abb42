/* A SQLite VFS whose files lie in the memory of this process: no path of any file system leads to them. */
#ifndef CMARTLET_MEMORY_VFS_H
#define CMARTLET_MEMORY_VFS_H

#include <stdbool.h>
#include <stdint.h>

/* The name that `sqlite3_open_v2` takes. Registered by the first call. */
const char *cmartlet_memory_vfs_name(void);

/* The name of the VFS that SQLite uses by default. */
const char *cmartlet_default_vfs_name(void);

/* A number that no other file of this process has had, or 0 if there is no file at the path. */
uint64_t cmartlet_memory_file_number(const char *path);

/* The bytes of a file, or -1 if there is none. */
int64_t cmartlet_memory_file_size(const char *path);

/* Takes the path away from a file, which ends when the last connection to it is closed. */
void cmartlet_memory_file_remove(const char *path);

/* Gives a file another path unless there is a file at that path; false if nothing was done. */
bool cmartlet_memory_file_rename(const char *from, const char *to);

/* All files, whether a path leads to them or not, and their bytes. For tests. */
int64_t cmartlet_memory_file_count(void);
int64_t cmartlet_memory_byte_count(void);

#endif
