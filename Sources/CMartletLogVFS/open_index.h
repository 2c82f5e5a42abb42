/* The WAL indexes (`-shm` files) that SQLite has open in this process. SQLite opens an index once for all connections
 * of the process to one database file, and keeps it open until the last of these connections unmaps it. */
#ifndef CMARTLET_OPEN_INDEX_H
#define CMARTLET_OPEN_INDEX_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct CMartletOpenIndex CMartletOpenIndex;

typedef struct CMartletFileID {
    dev_t device;
    ino_t inode;
} CMartletFileID;

/* Reads the device and inode of the file to which a path refers. Returns false if the path refers to no file. */
bool cmartlet_file_id(const char *path, CMartletFileID *file);
bool cmartlet_is_same_file(CMartletFileID first, CMartletFileID second);

/* Lock and unlock the list of open indexes. The caller holds this lock while SQLite opens or closes an index, so that
   the list is always correct. */
void cmartlet_lock_indexes(void);
void cmartlet_unlock_indexes(void);

/* Retains the open index of a database file. The caller has mapped the index and holds the lock. Returns NULL if the
   file of the index is not found, or if memory is exhausted. */
CMartletOpenIndex *cmartlet_retain_index(const char *database_path, CMartletFileID database);

/* If the file at the path of a database's index is open in this process as the index of another database, retains and
   returns that index; otherwise returns NULL. The caller holds the lock. */
CMartletOpenIndex *cmartlet_retain_index_of_other_database(const char *database_path, CMartletFileID database);

/* Writes the mark of a database into the first region of its index, if the index contains no mark yet and is not mapped
   as read-only. The mark is a number computed from the device and the inode of the database. Returns false if the index
   contains the mark of another database. */
bool cmartlet_mark_index(void volatile *region, CMartletFileID database, bool is_read_only);

/* Releases a retained index. The caller holds the lock, and unmaps the index afterwards. `index` may be NULL. */
void cmartlet_release_index(CMartletOpenIndex *index);

/* True if the path of the index now refers to another file or to none. */
bool cmartlet_is_open_index_moved(const CMartletOpenIndex *index, const char *database_path);

#endif
