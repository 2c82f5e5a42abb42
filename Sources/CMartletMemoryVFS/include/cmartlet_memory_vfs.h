/* A SQLite VFS whose files are in the memory of this process. They have no paths in any file system. */
#ifndef CMARTLET_MEMORY_VFS_H
#define CMARTLET_MEMORY_VFS_H

#include <stdbool.h>
#include <stdint.h>

/* The name to pass to `sqlite3_open_v2`. The first call registers the VFS. */
const char *cmartlet_memory_vfs_name(void);

/* The name of the VFS that SQLite uses by default. */
const char *cmartlet_default_vfs_name(void);

/* A number that identifies the file and is never reused in this process; 0 if there is no file at the path. */
uint64_t cmartlet_memory_file_number(const char *path);

/* The size of a file in bytes, or -1 if there is none. */
int64_t cmartlet_memory_file_size(const char *path);

/* Removes the path of a file. The file is freed when the last connection to it is closed. */
void cmartlet_memory_file_remove(const char *path);

/* Renames a file, unless there is a file at the new path. Returns true if the file was renamed. */
bool cmartlet_memory_file_rename(const char *from, const char *to);

/* For tests: the number of all files, with or without a path, and the total size of their allocated blocks in bytes. */
int64_t cmartlet_memory_file_count(void);
int64_t cmartlet_memory_byte_count(void);

#endif
