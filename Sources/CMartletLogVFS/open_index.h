/* The indexes (files `-shm`) that SQLite has open. SQLite opens an index once for all connections of the process to one
 * database file, and keeps it open until the last of them unmaps it. */
#ifndef CMARTLET_OPEN_INDEX_H
#define CMARTLET_OPEN_INDEX_H

#include <stdbool.h>

typedef struct CMartletOpenIndex CMartletOpenIndex;

/* The lock is held while SQLite opens or closes an index, so that an entry always describes the index that is open. */
void cmartlet_lock_indexes(void);
void cmartlet_unlock_indexes(void);

/* The open index of a database file. Called after the index was mapped, with the lock. NULL if it is unknown. */
CMartletOpenIndex *cmartlet_use_index(const char *database_path);

/* Called before the index is unmapped, with the lock. `index` may be NULL. */
void cmartlet_release_index(CMartletOpenIndex *index);

/* True if the path of the index refers to another file now, or to none. */
bool cmartlet_is_open_index_moved(const CMartletOpenIndex *index, const char *database_path);

#endif
