/* Files in memory: bytes in blocks, locks, and the shared memory of a write-ahead log. */
#ifndef CMARTLET_MEMORY_FILE_H
#define CMARTLET_MEMORY_FILE_H

#include "cmartlet_memory_vfs.h"

#include <pthread.h>
#include <sqlite3.h>

/* Bytes of a block. A file that grows copies pointers to blocks, never the blocks. */
enum { MEMORY_BLOCK = 65536 };

typedef struct MemoryHandle MemoryHandle;

/* `path`, `is_linked`, `next` and `users` are guarded by the lock of the list of files, the rest by `mutex`. */
typedef struct MemoryFile {
    struct MemoryFile *next;
    uint64_t number;
    char *path;
    bool is_linked; /* the path leads here */
    int users;      /* open handles, and callers who look at it */

    pthread_mutex_t mutex;
    uint8_t **blocks; /* null where nothing but zeros was written */
    int64_t block_count;
    int64_t size;
    uint8_t **shm_regions;
    int shm_region_count;
    MemoryHandle *handles;
} MemoryFile;

/* One open file, as SQLite holds it. */
struct MemoryHandle {
    sqlite3_file file;
    MemoryFile *of;
    MemoryHandle *next;
    int lock;               /* SQLITE_LOCK_… */
    uint16_t shm_shared;    /* a bit for each lock */
    uint16_t shm_exclusive; /* a bit for each lock */
    bool deletes_on_close;
};

/* The file at a path, made if it may be; null if there is none. A null path makes a file without one. The caller is a user of
   the file until `memory_release`. */
MemoryFile *memory_acquire(const char *path, bool creates, bool is_exclusive);
void memory_release(MemoryFile *file);

/* Takes the path away from a file. */
void memory_unlink(MemoryFile *file);
bool memory_is_linked(MemoryFile *file);

/* To be called with the mutex of the file. Writing and growing return false where the process has no more memory. */
int64_t memory_read(const MemoryFile *file, uint8_t *bytes, int64_t amount, int64_t offset);
bool memory_write(MemoryFile *file, const uint8_t *bytes, int64_t amount, int64_t offset);
void memory_truncate(MemoryFile *file, int64_t size);
int memory_map_region(MemoryFile *file, int region, int size, bool extends, void volatile **address);
void memory_free_regions(MemoryFile *file);

#endif
