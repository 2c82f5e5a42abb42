/* The disk in memory: files, what was done to them since their last sync, and the damage of a power cut. */
#ifndef CMARTLET_DISK_H
#define CMARTLET_DISK_H

#include "cmartlet_test_vfs.h"

#include <sqlite3.h>

typedef struct DiskHandle DiskHandle;

/* A write or truncation that is not synced. */
typedef struct DiskChange {
    int64_t number; /* which operation of the disk this was */
    int64_t offset; /* write: where; truncation: the new size */
    int64_t amount; /* write: bytes; truncation: -1 */
    uint8_t *bytes;
} DiskChange;

/* Bytes that grow; everything between size and capacity is zero. */
typedef struct DiskBytes {
    uint8_t *start;
    int64_t size;
    int64_t capacity;
} DiskBytes;

typedef struct DiskFile {
    struct DiskFile *next;
    char *path;            /* empty for nameless files */
    bool is_linked;        /* the path leads here now */
    bool is_durably_linked; /* the path leads here after a power cut that spares nothing unsynced */
    bool is_gone;          /* of a dead process: every call fails */
    bool is_damaged;       /* the power cut in progress has dealt with it */
    DiskBytes present;
    DiskBytes durable;
    DiskChange *changes;
    int64_t change_count, change_capacity;
    uint8_t **shm_regions;
    int shm_region_count;
    DiskHandle *handles; /* all open ones */
} DiskFile;

struct CMartletDisk {
    sqlite3_vfs vfs; /* its pAppData points back here */
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

/* One open file, as SQLite holds it. */
struct DiskHandle {
    sqlite3_file file;
    CMartletDisk *disk;
    DiskFile *of;
    DiskHandle *next;
    int lock;                /* SQLITE_LOCK_… */
    uint16_t shm_shared;     /* bit per lock */
    uint16_t shm_exclusive;  /* bit per lock */
    bool deletes_on_close;
};

/* All of these are called with the mutex held. */

uint32_t disk_random(CMartletDisk *disk);

/* Counts one operation. False if the power is off, or goes off in this very operation. */
bool disk_tick(CMartletDisk *disk);

DiskFile *disk_find(CMartletDisk *disk, const char *path);
DiskFile *disk_add(CMartletDisk *disk, const char *path);

/* Frees the file if neither a path nor a handle leads to it. */
void disk_release(CMartletDisk *disk, DiskFile *file);

void disk_write(CMartletDisk *disk, DiskFile *file, const void *bytes, int64_t amount, int64_t offset);
void disk_truncate(CMartletDisk *disk, DiskFile *file, int64_t size);
void disk_sync(CMartletDisk *disk, DiskFile *file);
void disk_unlink(CMartletDisk *disk, DiskFile *file, bool syncs_directory);

/* Notes a write that the power cut interrupts: it may reach the disk, but nobody reads it before. */
void disk_note_interrupted_write(
    CMartletDisk *disk, DiskFile *file, const void *bytes, int64_t amount, int64_t offset);

#endif
