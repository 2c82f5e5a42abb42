// Bulk insertion, small transactions and scattered updates.
#include "yardstick.h"

// People are created in batches, outside of the measured time. The reason is that a real program already has the values
// that it inserts.
enum { batch = 10000 };

static void insert_all(const job *job, const char *workload, bool indexed)
{
    static workload_person people[batch];
    sqlite3 *db = open_database(job->file);
    create_person_table(db, indexed);
    uint64_t measured = 0, start = workload_nanoseconds();
    execute(db, "BEGIN IMMEDIATE");
    sqlite3_stmt *insert = prepare(db, insert_person);
    measured += workload_nanoseconds() - start;
    for (int64_t first = 0; first < job->count; first += batch) {
        int64_t last = first + batch < job->count ? first + batch : job->count;
        for (int64_t i = first; i < last; i++)
            workload_make_person(i, &people[i - first]);
        start = workload_nanoseconds();
        for (int64_t i = first; i < last; i++) {
            bind_person(insert, &people[i - first]);
            run(insert);
        }
        measured += workload_nanoseconds() - start;
    }
    start = workload_nanoseconds();
    sqlite3_finalize(insert);
    execute(db, "COMMIT");
    measured += workload_nanoseconds() - start;
    int64_t check = query_integer(db, "SELECT sum(age) FROM person");
    sqlite3_close(db);
    report(workload, job->count, (double)measured / (double)job->count, check, job->file);
}

void insert_people(const job *job)
{
    insert_all(job, "insert", false);
}

void insert_people_indexed(const job *job)
{
    insert_all(job, "insert-indexed", true);
}

void small_transactions(const job *job)
{
    enum { transactions = 1000 };
    workload_person person;
    sqlite3 *db = open_database(job->file);
    create_person_table(db, false);
    sqlite3_stmt *begin = prepare(db, "BEGIN IMMEDIATE"), *commit = prepare(db, "COMMIT");
    sqlite3_stmt *insert = prepare(db, insert_person);
    uint64_t start = workload_nanoseconds();
    for (int64_t i = 0; i < transactions; i++) {
        workload_make_person(i, &person);
        run(begin);
        bind_person(insert, &person);
        run(insert);
        run(commit);
    }
    double each = (double)(workload_nanoseconds() - start) / transactions;
    report("small-transactions", transactions, each, query_integer(db, "SELECT count(*) FROM person"), job->file);
}

// Updates one column of every tenth person in one transaction.
void update_held(const job *job)
{
    sqlite3 *db = open_database(job->file);
    query_integer(db, "SELECT sum(length(email)) FROM person");
    sqlite3_stmt *update = prepare(db, "UPDATE person SET age = ?2 WHERE id = ?1");
    int64_t updates = job->count / 10;
    uint64_t start = workload_nanoseconds();
    execute(db, "BEGIN IMMEDIATE");
    for (int64_t i = 0; i < updates; i++) {
        sqlite3_bind_int64(update, 1, i * 10);
        sqlite3_bind_int64(update, 2, i % 100);
        run(update);
    }
    execute(db, "COMMIT");
    double each = (double)(workload_nanoseconds() - start) / (double)updates;
    report("update-held", updates, each, query_integer(db, "SELECT sum(age) FROM person"), job->file);
}
