/* The disk in memory: files, their changes since the last sync, and the damage of a power cut. */
#ifndef CMARTLET_DISK_H
#define CMARTLET_DISK_H

#include "cmartlet_test_vfs.h"

#include <sqlite3.h>

typedef struct DiskHandle DiskHandle;

/* A write or truncation that is not synced. */
typedef struct DiskChange {
    int64_t number; /* the number of the operation on this disk */
    int64_t offset; /* of a write: its position; of a truncation: the new size */
    int64_t amount; /* of a write: the number of bytes; of a truncation: -1 */
    uint8_t *bytes;
} DiskChange;

/* A buffer that grows; the bytes between size and capacity are zero. */
typedef struct DiskBytes {
    uint8_t *start;
    int64_t size;
    int64_t capacity;
} DiskBytes;

typedef struct DiskFile {
    struct DiskFile *next;
    char *path;            /* empty for temporary files */
    bool is_linked;        /* the path refers to this file now */
    bool is_durably_linked; /* the path refers to this file after a power cut that loses all unsynced changes */
    bool is_gone;          /* only dead processes have the file open: every call fails */
    bool is_damaged;       /* the current power cut has already damaged the file */
    DiskBytes current;     /* what processes read */
    DiskBytes durable;     /* the content at the last sync */
    DiskChange *changes;
    int64_t change_count, change_capacity;
    uint8_t **shm_regions;
    int shm_region_count;
    DiskHandle *handles; /* all open handles */
} DiskFile;

struct CMartletDisk {
    sqlite3_vfs vfs; /* its pAppData points to this struct */
    char *name;
    sqlite3_mutex *mutex; /* guards everything below */
    DiskFile *files;
    int64_t operations;
    int64_t cut_at;
    bool is_off;
    int characteristics;
    uint64_t random_state;
    int64_t clock_milliseconds;
};

/* A file that SQLite has opened. */
struct DiskHandle {
    sqlite3_file file;
    CMartletDisk *disk;
    DiskFile *file_on_disk;
    DiskHandle *next;
    int lock;                /* SQLITE_LOCK_… */
    uint16_t shm_shared;     /* the shared locks of the handle, one bit per lock */
    uint16_t shm_exclusive;  /* the exclusive locks of the handle, one bit per lock */
    bool deletes_on_close;
};

/* The callers of all functions below hold the mutex. */

uint32_t disk_random(CMartletDisk *disk);

/* Counts one operation if the power is on. Returns false if the power is off or fails during this operation. */
bool disk_count_operation(CMartletDisk *disk);

DiskFile *disk_find(CMartletDisk *disk, const char *path);
DiskFile *disk_add(CMartletDisk *disk, const char *path);

/* Frees the file if neither a path nor a handle refers to it. */
void disk_release(CMartletDisk *disk, DiskFile *file);

void disk_write(CMartletDisk *disk, DiskFile *file, const void *bytes, int64_t amount, int64_t offset);
void disk_truncate(CMartletDisk *disk, DiskFile *file, int64_t size);
void disk_sync(CMartletDisk *disk, DiskFile *file);
void disk_unlink(CMartletDisk *disk, DiskFile *file, bool syncs_directory);

/*
 * Records a write as not synced, without changing the current content. This is for the write that a power cut
 * interrupts: the bytes may reach the disk, but no process reads them before the restart.
 */
void disk_record_write(
    CMartletDisk *disk, DiskFile *file, const void *bytes, int64_t amount, int64_t offset);

#endif
