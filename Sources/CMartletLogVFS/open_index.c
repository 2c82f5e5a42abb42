#include "open_index.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>

struct CMartletOpenIndex {
    CMartletOpenIndex *next;
    dev_t database_device, device;
    ino_t database_inode, inode;
    int users;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by `lock`. The identities of an entry never change. */
static CMartletOpenIndex *indexes;

void cmartlet_lock_indexes(void) { pthread_mutex_lock(&lock); }

void cmartlet_unlock_indexes(void) { pthread_mutex_unlock(&lock); }

static int index_status(const char *database_path, struct stat *status) {
    char *path = sqlite3_mprintf("%s-shm", database_path);
    int result = path ? stat(path, status) : -1;
    sqlite3_free(path);
    return result;
}

CMartletOpenIndex *cmartlet_use_index(const char *database_path) {
    struct stat database, status;
    if (stat(database_path, &database) != 0) return NULL;
    CMartletOpenIndex *index = indexes;
    while (index && (index->database_device != database.st_dev || index->database_inode != database.st_ino)) {
        index = index->next;
    }
    if (!index) {
        if (index_status(database_path, &status) != 0 || !(index = calloc(1, sizeof *index))) return NULL;
        index->database_device = database.st_dev;
        index->database_inode = database.st_ino;
        index->device = status.st_dev;
        index->inode = status.st_ino;
        index->next = indexes;
        indexes = index;
    }
    index->users++;
    return index;
}

void cmartlet_release_index(CMartletOpenIndex *index) {
    if (!index || --index->users > 0) return;
    CMartletOpenIndex **link = &indexes;
    while (*link != index) link = &(*link)->next;
    *link = index->next;
    free(index);
}

bool cmartlet_is_open_index_moved(const CMartletOpenIndex *index, const char *database_path) {
    struct stat status;
    return index_status(database_path, &status) != 0 || status.st_dev != index->device ||
           status.st_ino != index->inode;
}
