// Look-ups, iteration, counts, sorting and opening.
#include <string.h>

#include "yardstick.h"

// Opens the database and reads all rows once, so that their pages are cached.
static sqlite3 *open_warm(const job *job)
{
    sqlite3 *db = open_database(job->file);
    query_integer(db, "SELECT sum(length(email)) FROM person");
    return db;
}

void look_up(const job *job)
{
    enum { lookups = 100000 };
    sqlite3 *db = open_warm(job);
    sqlite3_stmt *select = prepare(db, "SELECT name, age, email FROM person WHERE id = ?");
    uint64_t random = 7;
    int64_t check = 0;
    execute(db, "BEGIN");
    uint64_t start = workload_nanoseconds();
    for (int i = 0; i < lookups; i++) {
        sqlite3_bind_int64(select, 1, (int64_t)(workload_random(&random) % (uint64_t)job->count));
        sqlite3_step(select);
        check += sqlite3_column_text(select, 0)[0] + sqlite3_column_int64(select, 1) +
                 sqlite3_column_text(select, 2)[0];
        sqlite3_reset(select);
    }
    double each = (double)(workload_nanoseconds() - start) / lookups;
    execute(db, "COMMIT");
    report("lookup", lookups, each, check, job->file);
}

// SQLite has no objects. The most similar operation is one point query for each property read.
void read_held(const job *job)
{
    enum { held = 10000, rounds = 10 };
    sqlite3 *db = open_warm(job);
    sqlite3_stmt *select = prepare(db, "SELECT age FROM person WHERE id = ?");
    int64_t check = 0, step = job->count / held;
    execute(db, "BEGIN");
    uint64_t start = workload_nanoseconds();
    for (int round = 0; round < rounds; round++)
        for (int64_t i = 0; i < held; i++) {
            sqlite3_bind_int64(select, 1, i * step);
            sqlite3_step(select);
            check += sqlite3_column_int64(select, 0);
            sqlite3_reset(select);
        }
    double each = (double)(workload_nanoseconds() - start) / ((double)held * rounds);
    execute(db, "COMMIT");
    report("read-held", held, each, check / rounds, job->file);
}

void iterate(const job *job)
{
    enum { rounds = 3 };
    sqlite3 *db = open_warm(job);
    sqlite3_stmt *select = prepare(db, "SELECT age, name FROM person");
    uint64_t durations[rounds];
    int64_t check = 0;
    for (int round = 0; round < rounds; round++) {
        check = 0;
        uint64_t start = workload_nanoseconds();
        while (sqlite3_step(select) == SQLITE_ROW)
            check += sqlite3_column_int64(select, 0) + sqlite3_column_text(select, 1)[0];
        durations[round] = workload_nanoseconds() - start;
        sqlite3_reset(select);
    }
    report("iterate", job->count, median(durations, rounds) / (double)job->count, check, job->file);
}

static void time_count(const job *job, const char *workload)
{
    enum { rounds = 7 };
    sqlite3 *db = open_warm(job);
    sqlite3_stmt *select =
        prepare(db, "SELECT count(*) FROM person WHERE age BETWEEN 40 AND 41 AND isActive = 1");
    uint64_t durations[rounds];
    int64_t check = 0;
    for (int round = 0; round < rounds; round++) {
        uint64_t start = workload_nanoseconds();
        sqlite3_step(select);
        check = sqlite3_column_int64(select, 0);
        durations[round] = workload_nanoseconds() - start;
        sqlite3_reset(select);
    }
    report(workload, job->count, median(durations, rounds), check, job->file);
}

void count_filtered(const job *job)
{
    time_count(job, "count");
}

void count_filtered_indexed(const job *job)
{
    time_count(job, "count-indexed");
}

void sort_first(const job *job)
{
    enum { rounds = 5 };
    sqlite3 *db = open_warm(job);
    sqlite3_stmt *select =
        prepare(db, "SELECT id, name, age, email, score, isActive, created FROM person ORDER BY age, name LIMIT 100");
    uint64_t durations[rounds];
    int64_t check = 0;
    for (int round = 0; round < rounds; round++) {
        check = 0;
        uint64_t start = workload_nanoseconds();
        while (sqlite3_step(select) == SQLITE_ROW)
            check += sqlite3_column_int64(select, 0);
        durations[round] = workload_nanoseconds() - start;
        sqlite3_reset(select);
    }
    report("sort-first-100", job->count, median(durations, rounds), check, job->file);
}

void open_and_read(const job *job)
{
    enum { rounds = 15 };
    uint64_t durations[rounds];
    int64_t check = 0;
    for (int round = 0; round < rounds; round++) {
        uint64_t start = workload_nanoseconds();
        sqlite3 *db = open_database(job->file);
        sqlite3_stmt *select = prepare(db, "SELECT age FROM person WHERE id = ?");
        sqlite3_bind_int64(select, 1, job->count / 2);
        sqlite3_step(select);
        check = sqlite3_column_int64(select, 0);
        sqlite3_finalize(select);
        durations[round] = workload_nanoseconds() - start;
        sqlite3_close(db);
    }
    report("open-first", job->count, (double)durations[0], check, job->file);
    report("open", job->count, median(durations, rounds), check, job->file);
}
