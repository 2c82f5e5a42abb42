/* The indexes (files `-shm`) that SQLite has open. SQLite opens an index once for all connections of the process to one
 * database file, and keeps it open until the last of them unmaps it. */
#ifndef CMARTLET_OPEN_INDEX_H
#define CMARTLET_OPEN_INDEX_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct CMartletOpenIndex CMartletOpenIndex;

typedef struct CMartletFileID {
    dev_t device;
    ino_t inode;
} CMartletFileID;

/* The file to which a path refers. False if there is none. */
bool cmartlet_file_id(const char *path, CMartletFileID *file);
bool cmartlet_is_same_file(CMartletFileID first, CMartletFileID second);

/* The caller holds the lock while SQLite opens or closes an index, so that the list of open indexes is always
   correct. */
void cmartlet_lock_indexes(void);
void cmartlet_unlock_indexes(void);

/* Retains the open index of a database file. Called after the index was mapped, while the lock is held. Returns NULL if
   the file of the index is not found, or if memory is exhausted. */
CMartletOpenIndex *cmartlet_retain_index(const char *database_path, CMartletFileID database);

/* If the file at the path of a database's index is open in this process as the index of another database, retains and
   returns that index; otherwise returns NULL. Called while the lock is held. */
CMartletOpenIndex *cmartlet_retain_index_of_other_database(const char *database_path, CMartletFileID database);

/* Writes the mark of a database, a number computed from its device and inode, into the first region of an index that
   contains no mark. Returns false if the index contains the mark of another database. An index that is mapped for
   reading only is not changed. */
bool cmartlet_mark_index(void volatile *region, CMartletFileID database, bool is_read_only);

/* Called before the index is unmapped, while the lock is held. `index` may be NULL. */
void cmartlet_release_index(CMartletOpenIndex *index);

/* True if the path of the index refers to another file now, or to none. */
bool cmartlet_is_open_index_moved(const CMartletOpenIndex *index, const char *database_path);

#endif
