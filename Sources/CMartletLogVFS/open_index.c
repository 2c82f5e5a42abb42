#include "open_index.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

struct CMartletOpenIndex {
    CMartletOpenIndex *next;
    CMartletFileID database, file;
    int reference_count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The open indexes. The list is guarded by `lock`. The members `database` and `file` of an entry never change. */
static CMartletOpenIndex *indexes;

void cmartlet_lock_indexes(void) { pthread_mutex_lock(&lock); }

void cmartlet_unlock_indexes(void) { pthread_mutex_unlock(&lock); }

bool cmartlet_file_id(const char *path, CMartletFileID *file) {
    struct stat status;
    if (stat(path, &status) != 0) return false;
    *file = (CMartletFileID){.device = status.st_dev, .inode = status.st_ino};
    return true;
}

bool cmartlet_is_same_file(CMartletFileID first, CMartletFileID second) {
    return first.device == second.device && first.inode == second.inode;
}

static bool index_file(const char *database_path, CMartletFileID *file) {
    char *path = sqlite3_mprintf("%s-shm", database_path);
    bool is_there = path && cmartlet_file_id(path, file);
    sqlite3_free(path);
    return is_there;
}

static CMartletOpenIndex *index_of(CMartletFileID database) {
    CMartletOpenIndex *index = indexes;
    while (index && !cmartlet_is_same_file(index->database, database)) index = index->next;
    return index;
}

CMartletOpenIndex *cmartlet_retain_index(const char *database_path, CMartletFileID database) {
    CMartletOpenIndex *index = index_of(database);
    if (!index) {
        CMartletFileID file;
        if (!index_file(database_path, &file) || !(index = calloc(1, sizeof *index))) return NULL;
        index->database = database;
        index->file = file;
        index->next = indexes;
        indexes = index;
    }
    index->reference_count++;
    return index;
}

CMartletOpenIndex *cmartlet_retain_index_of_other_database(const char *database_path, CMartletFileID database) {
    CMartletFileID file;
    if (!indexes || index_of(database) || !index_file(database_path, &file)) return NULL;
    CMartletOpenIndex *index = indexes;
    while (index && !cmartlet_is_same_file(index->file, file)) index = index->next;
    if (index) index->reference_count++;
    return index;
}

void cmartlet_release_index(CMartletOpenIndex *index) {
    if (!index || --index->reference_count > 0) return;
    CMartletOpenIndex **link = &indexes;
    while (*link != index) link = &(*link)->next;
    *link = index->next;
    free(index);
}

bool cmartlet_is_open_index_moved(const CMartletOpenIndex *index, const char *database_path) {
    CMartletFileID file;
    return !index_file(database_path, &file) || !cmartlet_is_same_file(file, index->file);
}

/* The offset of the mark in the index. SQLite does not use the four bytes at this offset (`notUsed0`), and does not
   change them when it recovers the log. */
enum { MARK_OFFSET = 132 };

/* The mark of a database. It is never zero, because zero means that an index has no mark. */
static uint32_t mark(CMartletFileID database) {
    uint64_t number = ((uint64_t)database.device << 40 ^ (uint64_t)database.inode) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(number >> 32) | 1;
}

bool cmartlet_mark_index(void volatile *region, CMartletFileID database, bool is_read_only) {
    uint32_t volatile *word = (uint32_t volatile *)((uint8_t volatile *)region + MARK_OFFSET);
    uint32_t own = mark(database), found = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    if (found == 0 && !is_read_only) {
        (void)__atomic_compare_exchange_n(word, &found, own, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    return found == 0 || found == own;
}
