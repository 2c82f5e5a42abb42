#include "memory_file.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static MemoryFile *files;
static uint64_t last_number;

/* The lock is also held during each fork: the thread that calls `fork` acquires it before the fork, and the parent and
   the child release it afterwards. Otherwise a child that is forked while another thread holds the lock could never
   acquire the lock. */
static void lock_list(void) { pthread_mutex_lock(&list_mutex); }
static void unlock_list(void) { pthread_mutex_unlock(&list_mutex); }
__attribute__((constructor)) static void register_fork_handlers(void) {
    pthread_atfork(lock_list, unlock_list, unlock_list);
}

/* ---- The list of files ----------------------------------------------------------------------- */

static MemoryFile *find(const char *path) {
    for (MemoryFile *file = files; file; file = file->next) {
        if (file->is_linked && strcmp(file->path, path) == 0) return file;
    }
    return NULL;
}

static MemoryFile *make(const char *path) {
    MemoryFile *file = calloc(1, sizeof *file);
    if (!file) return NULL;
    file->path = strdup(path ? path : "");
    if (!file->path) {
        free(file);
        return NULL;
    }
    pthread_mutex_init(&file->mutex, NULL);
    file->is_linked = path != NULL;
    file->number = ++last_number;
    file->next = files;
    files = file;
    return file;
}

static void free_blocks(MemoryFile *file) {
    for (int64_t i = 0; i < file->block_count; i++) free(file->blocks[i]);
    free(file->blocks);
    file->blocks = NULL;
    file->block_count = 0;
}

void memory_free_regions(MemoryFile *file) {
    for (int i = 0; i < file->shm_region_count; i++) free(file->shm_regions[i]);
    free(file->shm_regions);
    file->shm_regions = NULL;
    file->shm_region_count = 0;
}

static void free_if_unused(MemoryFile *file) {
    if (file->is_linked || file->users > 0) return;
    MemoryFile **link = &files;
    while (*link != file) link = &(*link)->next;
    *link = file->next;
    free_blocks(file);
    memory_free_regions(file);
    pthread_mutex_destroy(&file->mutex);
    free(file->path);
    free(file);
}

MemoryFile *memory_acquire(const char *path, bool creates, bool is_exclusive) {
    lock_list();
    MemoryFile *file = path ? find(path) : NULL;
    if (file && is_exclusive) {
        file = NULL;
    } else if (!file && creates) {
        file = make(path);
    }
    if (file) file->users++;
    unlock_list();
    return file;
}

void memory_release(MemoryFile *file) {
    lock_list();
    file->users--;
    free_if_unused(file);
    unlock_list();
}

void memory_unlink(MemoryFile *file) {
    lock_list();
    file->is_linked = false;
    unlock_list();
}

bool memory_is_linked(MemoryFile *file) {
    lock_list();
    bool is_linked = file->is_linked;
    unlock_list();
    return is_linked;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

int64_t memory_read(const MemoryFile *file, uint8_t *bytes, int64_t amount, int64_t offset) {
    int64_t available = file->size - offset;
    if (available > amount) available = amount;
    if (available < 0) available = 0;
    for (int64_t done = 0; done < available;) {
        int64_t inside = (offset + done) % MEMORY_BLOCK;
        int64_t part = MEMORY_BLOCK - inside;
        if (part > available - done) part = available - done;
        const uint8_t *block = file->blocks[(offset + done) / MEMORY_BLOCK];
        if (block) {
            memcpy(bytes + done, block + inside, (size_t)part);
        } else {
            memset(bytes + done, 0, (size_t)part);
        }
        done += part;
    }
    return available;
}

static bool reserve(MemoryFile *file, int64_t count) {
    if (count <= file->block_count) return true;
    int64_t grown = file->block_count ? file->block_count : 4;
    while (grown < count) grown *= 2;
    uint8_t **blocks = realloc(file->blocks, (size_t)grown * sizeof *blocks);
    if (!blocks) return false;
    memset(blocks + file->block_count, 0, (size_t)(grown - file->block_count) * sizeof *blocks);
    file->blocks = blocks;
    file->block_count = grown;
    return true;
}

bool memory_write(MemoryFile *file, const uint8_t *bytes, int64_t amount, int64_t offset) {
    if (!reserve(file, (offset + amount + MEMORY_BLOCK - 1) / MEMORY_BLOCK)) return false;
    for (int64_t done = 0; done < amount;) {
        int64_t inside = (offset + done) % MEMORY_BLOCK;
        int64_t part = MEMORY_BLOCK - inside;
        if (part > amount - done) part = amount - done;
        uint8_t **block = &file->blocks[(offset + done) / MEMORY_BLOCK];
        if (!*block) *block = calloc(1, MEMORY_BLOCK);
        if (!*block) return false;
        memcpy(*block + inside, bytes + done, (size_t)part);
        done += part;
        if (offset + done > file->size) file->size = offset + done;
    }
    return true;
}

void memory_truncate(MemoryFile *file, int64_t size) {
    if (size >= file->size) return;
    int64_t kept = (size + MEMORY_BLOCK - 1) / MEMORY_BLOCK;
    for (int64_t i = kept; i < file->block_count; i++) {
        free(file->blocks[i]);
        file->blocks[i] = NULL;
    }
    /* The bytes after the new end are cleared, because they must be zero if the file grows again. */
    int64_t inside = size % MEMORY_BLOCK;
    if (inside > 0 && file->blocks[kept - 1]) {
        memset(file->blocks[kept - 1] + inside, 0, (size_t)(MEMORY_BLOCK - inside));
    }
    file->size = size;
}

/* ---- Shared memory --------------------------------------------------------------------------- */

int memory_map_region(MemoryFile *file, int region, int size, bool extends, void volatile **address) {
    *address = NULL;
    if (region >= file->shm_region_count) {
        if (!extends) return SQLITE_OK;
        uint8_t **regions = realloc(file->shm_regions, (size_t)(region + 1) * sizeof *regions);
        if (!regions) return SQLITE_IOERR_NOMEM;
        file->shm_regions = regions;
        while (file->shm_region_count <= region) {
            uint8_t *made = calloc(1, (size_t)size);
            if (!made) return SQLITE_IOERR_NOMEM;
            regions[file->shm_region_count++] = made;
        }
    }
    *address = file->shm_regions[region];
    return SQLITE_OK;
}

/* ---- Functions for the engine ---------------------------------------------------------------- */

uint64_t cmartlet_memory_file_number(const char *path) {
    MemoryFile *file = memory_acquire(path, false, false);
    if (!file) return 0;
    uint64_t number = file->number;
    memory_release(file);
    return number;
}

int64_t cmartlet_memory_file_size(const char *path) {
    MemoryFile *file = memory_acquire(path, false, false);
    if (!file) return -1;
    pthread_mutex_lock(&file->mutex);
    int64_t size = file->size;
    pthread_mutex_unlock(&file->mutex);
    memory_release(file);
    return size;
}

void cmartlet_memory_file_remove(const char *path) {
    MemoryFile *file = memory_acquire(path, false, false);
    if (!file) return;
    memory_unlink(file);
    memory_release(file);
}

bool cmartlet_memory_file_rename(const char *from, const char *to) {
    char *path = strdup(to);
    if (!path) return false;
    lock_list();
    MemoryFile *file = find(from);
    bool is_possible = file && !find(to);
    if (is_possible) {
        char *old = file->path;
        file->path = path;
        path = old;
    }
    unlock_list();
    free(path);
    return is_possible;
}

int64_t cmartlet_memory_file_count(void) {
    int64_t count = 0;
    lock_list();
    for (MemoryFile *file = files; file; file = file->next) count++;
    unlock_list();
    return count;
}

int64_t cmartlet_memory_byte_count(void) {
    int64_t count = 0;
    lock_list();
    for (MemoryFile *file = files; file; file = file->next) {
        pthread_mutex_lock(&file->mutex);
        for (int64_t i = 0; i < file->block_count; i++) count += file->blocks[i] ? MEMORY_BLOCK : 0;
        pthread_mutex_unlock(&file->mutex);
    }
    unlock_list();
    return count;
}
