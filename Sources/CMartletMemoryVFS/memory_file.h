/* Files in memory: bytes in blocks, locks, and the shared memory of a write-ahead log. */
#ifndef CMARTLET_MEMORY_FILE_H
#define CMARTLET_MEMORY_FILE_H

#include "cmartlet_memory_vfs.h"

#include <pthread.h>
#include <sqlite3.h>

/* The size of a block in bytes. When a file grows, the pointers to its blocks may be copied, but the blocks are not. */
enum { MEMORY_BLOCK = 65536 };

typedef struct MemoryHandle MemoryHandle;

/* `number` identifies the file and never changes. The lock of the file list guards `path`, `is_linked`, `next` and
   `users`. `mutex` guards the members that are declared after it. */
typedef struct MemoryFile {
    struct MemoryFile *next;
    uint64_t number;
    char *path;
    bool is_linked; /* whether `path` still refers to this file */
    int users;      /* the number of `memory_acquire` calls that have not been followed by `memory_release` yet */

    pthread_mutex_t mutex;
    uint8_t **blocks;    /* a null pointer stands for a block of zeros */
    int64_t block_count; /* the number of pointers, including null pointers */
    int64_t size;
    uint8_t **shm_regions;
    int shm_region_count;
    MemoryHandle *handles;
} MemoryFile;

/* An open file of one SQLite connection. Several handles can refer to one MemoryFile. */
struct MemoryHandle {
    sqlite3_file file;
    MemoryFile *memory_file;
    MemoryHandle *next;
    int lock;               /* one of the constants SQLITE_LOCK_… */
    uint16_t shm_shared;    /* the locks of the shared memory that this handle holds in shared mode, one bit each */
    uint16_t shm_exclusive; /* the locks of the shared memory that this handle holds in exclusive mode */
    bool deletes_on_close;
};

/* Returns the file at a path. If no file exists at the path, creates a file if `creates` is true, and otherwise returns
   null. If a file exists at the path and `is_exclusive` is true, returns null. If `path` is null and `creates` is true,
   creates a file without a path. Also returns null if the process is out of memory. The caller must call
   `memory_release` when it no longer uses the file. */
MemoryFile *memory_acquire(const char *path, bool creates, bool is_exclusive);
void memory_release(MemoryFile *file);

/* Unlinks a file: its path no longer refers to the file. The file is freed when its last user releases it. */
void memory_unlink(MemoryFile *file);
bool memory_is_linked(MemoryFile *file);

/* The caller of the following functions must hold the mutex of the file. `memory_read` returns the number of bytes that
   it has read. `memory_write` returns false if the process is out of memory. `memory_map_region` returns a result code
   of SQLite. */
int64_t memory_read(const MemoryFile *file, uint8_t *bytes, int64_t amount, int64_t offset);
bool memory_write(MemoryFile *file, const uint8_t *bytes, int64_t amount, int64_t offset);
void memory_truncate(MemoryFile *file, int64_t size);
int memory_map_region(MemoryFile *file, int region, int size, bool extends, void volatile **address);
void memory_free_regions(MemoryFile *file);

#endif
