/* The files, operations and damage of the disk in memory. See disk.h. */
#include "disk.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR_SIZE = 512 };

/* xorshift64: a small generator that returns the same numbers on all platforms. */
uint32_t disk_random(CMartletDisk *disk) {
    uint64_t x = disk->random_state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    disk->random_state = x;
    return (uint32_t)(x >> 16);
}

static bool one_in(CMartletDisk *disk, uint32_t n) {
    return disk_random(disk) % n == 0;
}

static void seed_random(CMartletDisk *disk, uint64_t seed) {
    disk->random_state = (seed + 1) * 0x9E3779B97F4A7C15u;
    if (disk->random_state == 0) disk->random_state = 1;
    for (int i = 0; i < 4; i++) disk_random(disk);
}

bool disk_count_operation(CMartletDisk *disk) {
    if (disk->is_off) return false;
    disk->operations++;
    if (disk->operations == disk->cut_at) disk->is_off = true;
    return !disk->is_off;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static void bytes_reserve(DiskBytes *bytes, int64_t capacity) {
    if (capacity <= bytes->capacity) return;
    int64_t grown = bytes->capacity ? bytes->capacity : 8192;
    while (grown < capacity) grown *= 2;
    bytes->start = realloc(bytes->start, (size_t)grown);
    memset(bytes->start + bytes->capacity, 0, (size_t)(grown - bytes->capacity));
    bytes->capacity = grown;
}

static void bytes_put(DiskBytes *bytes, const uint8_t *from, int64_t amount, int64_t offset) {
    bytes_reserve(bytes, offset + amount);
    memcpy(bytes->start + offset, from, (size_t)amount);
    if (offset + amount > bytes->size) bytes->size = offset + amount;
}

static void bytes_cut(DiskBytes *bytes, int64_t size) {
    if (size >= bytes->size) return;
    memset(bytes->start + size, 0, (size_t)(bytes->size - size));
    bytes->size = size;
}

static void bytes_copy(DiskBytes *to, const DiskBytes *from) {
    bytes_cut(to, 0);
    if (from->size > 0) bytes_put(to, from->start, from->size, 0);
}

/* ---- Files ----------------------------------------------------------------------------------- */

DiskFile *disk_find(CMartletDisk *disk, const char *path) {
    for (DiskFile *file = disk->files; file; file = file->next) {
        if (file->is_linked && strcmp(file->path, path) == 0) return file;
    }
    return NULL;
}

DiskFile *disk_add(CMartletDisk *disk, const char *path) {
    DiskFile *file = calloc(1, sizeof *file);
    file->path = strdup(path ? path : "");
    file->is_linked = path != NULL;
    /* Append the file, so that the damage functions process files in the order of their creation. */
    DiskFile **last = &disk->files;
    while (*last) last = &(*last)->next;
    *last = file;
    return file;
}

static void forget_changes(DiskFile *file) {
    for (int64_t i = 0; i < file->change_count; i++) free(file->changes[i].bytes);
    file->change_count = 0;
}

static void free_shm(DiskFile *file) {
    for (int i = 0; i < file->shm_region_count; i++) free(file->shm_regions[i]);
    free(file->shm_regions);
    file->shm_regions = NULL;
    file->shm_region_count = 0;
}

void disk_release(CMartletDisk *disk, DiskFile *file) {
    if (file->is_linked || file->is_durably_linked || file->handles) return;
    DiskFile **link = &disk->files;
    while (*link != file) link = &(*link)->next;
    *link = file->next;
    forget_changes(file);
    free_shm(file);
    free(file->changes);
    free(file->current.start);
    free(file->durable.start);
    free(file->path);
    free(file);
}

static void note_change(CMartletDisk *disk, DiskFile *file, DiskChange change) {
    if (file->change_count == file->change_capacity) {
        file->change_capacity = file->change_capacity ? file->change_capacity * 2 : 32;
        file->changes = realloc(file->changes, (size_t)file->change_capacity * sizeof *file->changes);
    }
    change.number = disk->operations;
    file->changes[file->change_count++] = change;
}

void disk_record_write(
    CMartletDisk *disk, DiskFile *file, const void *bytes, int64_t amount, int64_t offset
) {
    uint8_t *copy = malloc((size_t)amount);
    memcpy(copy, bytes, (size_t)amount);
    note_change(disk, file, (DiskChange){.offset = offset, .amount = amount, .bytes = copy});
}

void disk_write(CMartletDisk *disk, DiskFile *file, const void *bytes, int64_t amount, int64_t offset) {
    bytes_put(&file->current, bytes, amount, offset);
    disk_record_write(disk, file, bytes, amount, offset);
}

void disk_truncate(CMartletDisk *disk, DiskFile *file, int64_t size) {
    bytes_cut(&file->current, size);
    note_change(disk, file, (DiskChange){.offset = size, .amount = -1});
}

/* Makes all creations and deletions of files durable, as a sync of the directory does. */
static void sync_directory(CMartletDisk *disk) {
    for (DiskFile *file = disk->files, *next; file; file = next) {
        next = file->next;
        file->is_durably_linked = file->is_linked;
        disk_release(disk, file);
    }
}

void disk_sync(CMartletDisk *disk, DiskFile *file) {
    bytes_copy(&file->durable, &file->current);
    forget_changes(file);
    /* As in the unix VFS, the first sync of a new file also syncs the directory. */
    if (file->is_linked && !file->is_durably_linked) sync_directory(disk);
}

void disk_unlink(CMartletDisk *disk, DiskFile *file, bool syncs_directory) {
    file->is_linked = false;
    if (syncs_directory) {
        sync_directory(disk);
    } else {
        disk_release(disk, file);
    }
}

/* ---- Damage ---------------------------------------------------------------------------------- */

/* Applies one write to `bytes`. If `tears` is true, each sector is written, lost or replaced by garbage. */
static void apply_write(CMartletDisk *disk, DiskBytes *bytes, const DiskChange *change, bool tears) {
    int64_t done = 0;
    while (done < change->amount) {
        int64_t offset = change->offset + done;
        int64_t amount = SECTOR_SIZE - offset % SECTOR_SIZE;
        if (amount > change->amount - done) amount = change->amount - done;
        bool is_torn = tears && one_in(disk, 4);
        if (!is_torn) {
            bytes_put(bytes, change->bytes + done, amount, offset);
        } else if (one_in(disk, 2)) {
            uint8_t garbage[SECTOR_SIZE];
            for (int i = 0; i < SECTOR_SIZE; i++) garbage[i] = (uint8_t)disk_random(disk);
            bytes_put(bytes, garbage, amount, offset);
        }
        done += amount;
    }
}

/* Decides which changes of a file survive a power cut. */
typedef struct Survival {
    CMartletDamage damage;
    int64_t last_number; /* used by Prefix: changes with higher numbers are lost */
} Survival;

static bool survives(CMartletDisk *disk, Survival survival, int64_t number) {
    switch (survival.damage) {
    case CMartletDamageAllLost: return false;
    case CMartletDamagePrefix: return number <= survival.last_number;
    default: return !one_in(disk, 3);
    }
}

static void damage_bytes(CMartletDisk *disk, DiskFile *file, Survival survival) {
    DiskBytes bytes = {0};
    bytes_copy(&bytes, &file->durable);
    for (int64_t i = 0; i < file->change_count; i++) {
        DiskChange *change = &file->changes[i];
        if (!survives(disk, survival, change->number)) continue;
        if (change->amount < 0) {
            bytes_cut(&bytes, change->offset);
        } else {
            apply_write(disk, &bytes, change, survival.damage == CMartletDamageTorn);
        }
    }
    free(file->current.start);
    file->current = bytes;
    bytes_copy(&file->durable, &bytes);
    forget_changes(file);
}

/* Returns whether the path refers to this file after the power cut, which can undo an unsynced creation or deletion. */
static bool stays_linked(CMartletDisk *disk, const DiskFile *file, Survival survival) {
    if (file->is_linked == file->is_durably_linked) return file->is_linked;
    if (survival.damage == CMartletDamageAllLost) return file->is_durably_linked;
    return one_in(disk, 2);
}

static int64_t first_unsynced_number(const CMartletDisk *disk) {
    int64_t first = disk->operations + 1;
    for (DiskFile *file = disk->files; file; file = file->next) {
        if (file->change_count > 0 && file->changes[0].number < first) first = file->changes[0].number;
    }
    return first;
}

static Survival survival_for_file(CMartletDisk *disk, CMartletDamage damage, int64_t prefix_end) {
    if (damage != CMartletDamageMixed) return (Survival){damage, prefix_end};
    return (Survival){(CMartletDamage)(disk_random(disk) % CMartletDamageMixed), prefix_end};
}

/*
 * Moves the open handles of each file to a new DiskFile, on which every call fails. The original file keeps its path
 * and its bytes. A deleted file that is still open needs no new DiskFile.
 */
static void orphan_handles(CMartletDisk *disk) {
    for (DiskFile *file = disk->files; file; file = file->next) {
        if (file->is_gone) continue;
        if (!file->handles) {
            free_shm(file);
            continue;
        }
        if (!file->is_linked && !file->is_durably_linked) {
            file->is_gone = true;
            continue;
        }
        DiskFile *orphan = calloc(1, sizeof *orphan);
        orphan->path = strdup(file->path);
        orphan->is_gone = true;
        orphan->handles = file->handles;
        orphan->shm_regions = file->shm_regions;
        orphan->shm_region_count = file->shm_region_count;
        for (DiskHandle *handle = orphan->handles; handle; handle = handle->next) handle->file_on_disk = orphan;
        file->handles = NULL;
        file->shm_regions = NULL;
        file->shm_region_count = 0;
        orphan->next = file->next;
        file->next = orphan;
    }
}

/*
 * Damages either all files with a path (`linked` is true) or all deleted files. If a deletion is not durable, the
 * deleted file may exist again afterwards.
 */
static void damage_files(CMartletDisk *disk, CMartletDamage damage, int64_t prefix_end, bool linked) {
    for (DiskFile *file = disk->files, *next; file; file = next) {
        next = file->next;
        if (file->is_gone || file->is_damaged || file->is_linked != linked) continue;
        Survival survival = survival_for_file(disk, damage, prefix_end);
        bool is_replaced = !linked && disk_find(disk, file->path);
        bool stays = stays_linked(disk, file, survival) && !is_replaced;
        file->is_linked = file->is_durably_linked = stays;
        file->is_damaged = true;
        damage_bytes(disk, file, survival);
    }
}

static void damage_all(CMartletDisk *disk, CMartletDamage damage) {
    int64_t first = first_unsynced_number(disk);
    int64_t prefix_end = first - 1 + disk_random(disk) % (disk->operations - first + 2);
    damage_files(disk, damage, prefix_end, true);
    damage_files(disk, damage, prefix_end, false);
    for (DiskFile *file = disk->files, *next; file; file = next) {
        next = file->next;
        file->is_damaged = false;
        disk_release(disk, file);
    }
}

void cmartlet_disk_restart(CMartletDisk *disk, CMartletDamage damage, uint64_t seed) {
    sqlite3_mutex_enter(disk->mutex);
    seed_random(disk, seed);
    orphan_handles(disk);
    damage_all(disk, damage);
    disk->is_off = false;
    disk->cut_at = 0;
    sqlite3_mutex_leave(disk->mutex);
}

void cmartlet_disk_kill_processes(CMartletDisk *disk) {
    sqlite3_mutex_enter(disk->mutex);
    orphan_handles(disk);
    sqlite3_mutex_leave(disk->mutex);
}

void cmartlet_disk_reset(CMartletDisk *disk) {
    sqlite3_mutex_enter(disk->mutex);
    orphan_handles(disk);
    for (DiskFile *file = disk->files, *next; file; file = next) {
        next = file->next;
        file->is_linked = file->is_durably_linked = false;
        disk_release(disk, file);
    }
    seed_random(disk, 0);
    disk->operations = 0;
    disk->cut_at = 0;
    disk->is_off = false;
    disk->clock_milliseconds = 0;
    sqlite3_mutex_leave(disk->mutex);
}

/* ---- Interface for tests --------------------------------------------------------------------- */

int64_t cmartlet_disk_operation_count(CMartletDisk *disk) {
    sqlite3_mutex_enter(disk->mutex);
    int64_t count = disk->operations;
    sqlite3_mutex_leave(disk->mutex);
    return count;
}

void cmartlet_disk_cut_power_at(CMartletDisk *disk, int64_t operation) {
    sqlite3_mutex_enter(disk->mutex);
    disk->cut_at = operation;
    sqlite3_mutex_leave(disk->mutex);
}

bool cmartlet_disk_is_off(CMartletDisk *disk) {
    sqlite3_mutex_enter(disk->mutex);
    bool is_off = disk->is_off;
    sqlite3_mutex_leave(disk->mutex);
    return is_off;
}

void cmartlet_disk_set_characteristics(CMartletDisk *disk, int characteristics) {
    sqlite3_mutex_enter(disk->mutex);
    disk->characteristics = characteristics;
    sqlite3_mutex_leave(disk->mutex);
}

int cmartlet_disk_open_file_count(CMartletDisk *disk) {
    int count = 0;
    sqlite3_mutex_enter(disk->mutex);
    for (DiskFile *file = disk->files; file; file = file->next) {
        for (DiskHandle *handle = file->handles; handle; handle = handle->next) count++;
    }
    sqlite3_mutex_leave(disk->mutex);
    return count;
}

int64_t cmartlet_disk_unsynced_count(CMartletDisk *disk) {
    int64_t count = 0;
    sqlite3_mutex_enter(disk->mutex);
    for (DiskFile *file = disk->files; file; file = file->next) {
        count += file->change_count + (file->is_linked != file->is_durably_linked);
    }
    sqlite3_mutex_leave(disk->mutex);
    return count;
}

int64_t cmartlet_disk_file_size(CMartletDisk *disk, const char *path) {
    sqlite3_mutex_enter(disk->mutex);
    DiskFile *file = disk_find(disk, path);
    int64_t size = file ? file->current.size : -1;
    sqlite3_mutex_leave(disk->mutex);
    return size;
}

size_t cmartlet_disk_read(CMartletDisk *disk, const char *path, int64_t offset, void *bytes, size_t amount) {
    size_t count = 0;
    sqlite3_mutex_enter(disk->mutex);
    DiskFile *file = disk_find(disk, path);
    if (file && offset < file->current.size) {
        count = (size_t)(file->current.size - offset);
        if (count > amount) count = amount;
        memcpy(bytes, file->current.start + offset, count);
    }
    sqlite3_mutex_leave(disk->mutex);
    return count;
}

bool cmartlet_disk_overwrite(
    CMartletDisk *disk, const char *path, int64_t offset, const void *bytes, size_t amount
) {
    sqlite3_mutex_enter(disk->mutex);
    DiskFile *file = disk_find(disk, path);
    bool is_inside = file && offset + (int64_t)amount <= file->current.size;
    if (is_inside) {
        bytes_put(&file->current, bytes, (int64_t)amount, offset);
        bytes_copy(&file->durable, &file->current);
        forget_changes(file);
    }
    sqlite3_mutex_leave(disk->mutex);
    return is_inside;
}
