/* Files in memory: bytes in blocks, locks, and the shared memory of a write-ahead log. */
#ifndef CMARTLET_MEMORY_FILE_H
#define CMARTLET_MEMORY_FILE_H

#include "cmartlet_memory_vfs.h"

#include <pthread.h>
#include <sqlite3.h>

/* The size of a block in bytes. When a file grows, only the pointers to its blocks are copied, never the blocks. */
enum { MEMORY_BLOCK = 65536 };

typedef struct MemoryHandle MemoryHandle;

/* `number` identifies the file and never changes. The lock of the file list guards `path`, `is_linked`, `next` and
   `users`. `mutex` guards the rest. */
typedef struct MemoryFile {
    struct MemoryFile *next;
    uint64_t number;
    char *path;
    bool is_linked; /* the path refers to this file */
    int users;      /* open handles and callers between acquire and release */

    pthread_mutex_t mutex;
    uint8_t **blocks; /* null for a block without data */
    int64_t block_count;
    int64_t size;
    uint8_t **shm_regions;
    int shm_region_count;
    MemoryHandle *handles;
} MemoryFile;

/* A file that SQLite has opened; several handles can refer to one MemoryFile. */
struct MemoryHandle {
    sqlite3_file file;
    MemoryFile *memory_file;
    MemoryHandle *next;
    int lock;               /* SQLITE_LOCK_… */
    uint16_t shm_shared;    /* a bit for each lock */
    uint16_t shm_exclusive; /* a bit for each lock */
    bool deletes_on_close;
};

/* Returns the file at a path. If there is none, creates it if `creates` is true, otherwise returns null. If there is
   one and `is_exclusive` is true, returns null. If `path` is null and `creates` is true, creates a file without a path.
   The caller must call `memory_release` when it no longer uses the file. */
MemoryFile *memory_acquire(const char *path, bool creates, bool is_exclusive);
void memory_release(MemoryFile *file);

/* Unlinks a file: its path no longer refers to it. The file is freed when its last user releases it. */
void memory_unlink(MemoryFile *file);
bool memory_is_linked(MemoryFile *file);

/* The caller holds the mutex of the file. `memory_write` returns false if the process is out of memory. */
int64_t memory_read(const MemoryFile *file, uint8_t *bytes, int64_t amount, int64_t offset);
bool memory_write(MemoryFile *file, const uint8_t *bytes, int64_t amount, int64_t offset);
void memory_truncate(MemoryFile *file, int64_t size);
int memory_map_region(MemoryFile *file, int region, int size, bool extends, void volatile **address);
void memory_free_regions(MemoryFile *file);

#endif
