// Measures a list of links in two layouts: flat (one row for each element) and in chunks. The program appends one
// element for every ten people in the database. Then it inserts a tenth of this number of elements at random positions.
#include <stdlib.h>
#include <string.h>

#include "yardstick.h"

enum { reads = 100000 };

// --- flat: one row for each element, ordered by a position; the positions have gaps for later insertions; copies of
// all positions and targets are in memory

typedef struct {
    int64_t *positions, *targets;
    int64_t count;
} flat_list;

static void flat_insert(flat_list *list, sqlite3_stmt *insert, int64_t index, int64_t position, int64_t target)
{
    sqlite3_bind_int64(insert, 1, position);
    sqlite3_bind_int64(insert, 2, target);
    run(insert);
    size_t tail = sizeof(int64_t) * (size_t)(list->count - index);
    memmove(list->positions + index + 1, list->positions + index, tail);
    memmove(list->targets + index + 1, list->targets + index, tail);
    list->positions[index] = position;
    list->targets[index] = target;
    list->count++;
}

static void flat(const job *job, sqlite3 *db, int64_t appends)
{
    int64_t inserts = appends / 10;
    execute(db, "CREATE TABLE item(owner INTEGER NOT NULL, position INTEGER NOT NULL, target INTEGER NOT NULL,"
                "PRIMARY KEY(owner, position)) WITHOUT ROWID; CREATE INDEX item_target ON item(target)");
    size_t size = sizeof(int64_t) * (size_t)(appends + inserts);
    flat_list list = {malloc(size), malloc(size), 0};
    sqlite3_stmt *insert = prepare(db, "INSERT INTO item(owner, position, target) VALUES(1, ?, ?)");
    uint64_t random = 5, people = (uint64_t)job->count;

    uint64_t start = workload_nanoseconds();
    execute(db, "BEGIN IMMEDIATE");
    for (int64_t i = 0; i < appends; i++)
        flat_insert(&list, insert, i, (i + 1) << 32, (int64_t)(workload_random(&random) % people));
    execute(db, "COMMIT");
    double each = (double)(workload_nanoseconds() - start) / (double)appends;
    report("list-append-flat", appends, each, list.count, job->file);

    start = workload_nanoseconds();
    execute(db, "BEGIN IMMEDIATE");
    for (int64_t i = 0; i < inserts; i++) {
        int64_t index = (int64_t)(workload_random(&random) % (uint64_t)list.count);
        int64_t before = index ? list.positions[index - 1] : 0;
        int64_t position = before + (list.positions[index] - before) / 2;
        flat_insert(&list, insert, index, position, (int64_t)(workload_random(&random) % people));
    }
    execute(db, "COMMIT");
    each = (double)(workload_nanoseconds() - start) / (double)inserts;
    report("list-insert-middle-flat", inserts, each, list.count, job->file);
}

// --- in chunks: each row contains a blob of at most 512 keys; a commit writes each changed chunk once

enum { chunk_fill = 256, chunk_capacity = 512 };

typedef struct {
    int64_t keys[chunk_capacity];
    int count;
    bool changed;
} chunk;

typedef struct {
    chunk *chunks;
    int count;
} chunked_list;

static void write_changed(chunked_list *list, sqlite3_stmt *replace)
{
    for (int i = 0; i < list->count; i++) {
        chunk *chunk = &list->chunks[i];
        if (!chunk->changed)
            continue;
        sqlite3_bind_int64(replace, 1, i + 1);
        sqlite3_bind_blob(replace, 2, chunk->keys, (int)sizeof(int64_t) * chunk->count, SQLITE_STATIC);
        run(replace);
        chunk->changed = false;
    }
}

static void chunked_append(chunked_list *list, int64_t key)
{
    if (list->count == 0 || list->chunks[list->count - 1].count == chunk_fill)
        list->count++;
    chunk *last = &list->chunks[list->count - 1];
    last->keys[last->count++] = key;
    last->changed = true;
}

static void chunked_insert(chunked_list *list, int64_t index, int64_t key)
{
    chunk *chunk = list->chunks;
    while (index > chunk->count)
        index -= chunk++->count;
    if (chunk->count == chunk_capacity)
        abort(); // unreachable: one random insertion for every ten elements does not double the size of a chunk
    memmove(chunk->keys + index + 1, chunk->keys + index, sizeof(int64_t) * (size_t)(chunk->count - index));
    chunk->keys[index] = key;
    chunk->count++;
    chunk->changed = true;
}

static int64_t chunked_at(const chunked_list *list, int64_t index)
{
    const chunk *chunk = list->chunks;
    while (index >= chunk->count)
        index -= chunk++->count;
    return chunk->keys[index];
}

static void read_random(const job *job, sqlite3 *db, const chunked_list *list, int64_t count, uint64_t random)
{
    sqlite3_stmt *select = prepare(db, "SELECT age FROM person WHERE id = ?");
    int64_t check = 0;
    execute(db, "BEGIN");
    uint64_t start = workload_nanoseconds();
    for (int i = 0; i < reads; i++) {
        int64_t index = (int64_t)(workload_random(&random) % (uint64_t)count);
        sqlite3_bind_int64(select, 1, chunked_at(list, index));
        sqlite3_step(select);
        check += sqlite3_column_int64(select, 0);
        sqlite3_reset(select);
    }
    double each = (double)(workload_nanoseconds() - start) / reads;
    execute(db, "COMMIT");
    report("list-read-random", reads, each, check, job->file);
}

static void in_chunks(const job *job, sqlite3 *db, int64_t appends)
{
    int64_t inserts = appends / 10;
    execute(db, "CREATE TABLE chunk(id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, keys BLOB NOT NULL)");
    chunked_list list = {calloc((size_t)(appends / chunk_fill + 1), sizeof(chunk)), 0};
    sqlite3_stmt *replace = prepare(db, "INSERT OR REPLACE INTO chunk(id, owner, keys) VALUES(?, 1, ?)");
    uint64_t random = 5, people = (uint64_t)job->count;

    uint64_t start = workload_nanoseconds();
    execute(db, "BEGIN IMMEDIATE");
    for (int64_t i = 0; i < appends; i++)
        chunked_append(&list, (int64_t)(workload_random(&random) % people));
    write_changed(&list, replace);
    execute(db, "COMMIT");
    double each = (double)(workload_nanoseconds() - start) / (double)appends;
    report("list-append", appends, each, appends, job->file);

    start = workload_nanoseconds();
    execute(db, "BEGIN IMMEDIATE");
    for (int64_t i = 0; i < inserts; i++) {
        int64_t index = (int64_t)(workload_random(&random) % (uint64_t)(appends + i));
        chunked_insert(&list, index, (int64_t)(workload_random(&random) % people));
    }
    write_changed(&list, replace);
    execute(db, "COMMIT");
    each = (double)(workload_nanoseconds() - start) / (double)inserts;
    report("list-insert-middle", inserts, each, appends + inserts, job->file);
    read_random(job, db, &list, appends + inserts, random);
}

void lists(const job *job)
{
    sqlite3 *db = open_database(job->file);
    query_integer(db, "SELECT sum(length(email)) FROM person");
    int64_t appends = job->count / 10;
    in_chunks(job, db, appends);
    flat(job, db, appends);
}
