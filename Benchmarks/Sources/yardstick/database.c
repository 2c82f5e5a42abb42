#include <stdio.h>
#include <stdlib.h>

#include "yardstick.h"

static _Noreturn void fail(sqlite3 *db, const char *what)
{
    fprintf(stderr, "yardstick: %s: %s\n", what, db ? sqlite3_errmsg(db) : "out of memory");
    exit(1);
}

void execute(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail(db, sql);
}

sqlite3 *open_database(const char *file)
{
    sqlite3 *db;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(file, &db, flags, NULL) != SQLITE_OK)
        fail(db, file);
    execute(db, "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-16384;"
                "PRAGMA temp_store=MEMORY; PRAGMA secure_delete=0");
    return db;
}

sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
        fail(db, sql);
    return statement;
}

void run(sqlite3_stmt *statement)
{
    if (sqlite3_step(statement) != SQLITE_DONE)
        fail(sqlite3_db_handle(statement), sqlite3_sql(statement));
    sqlite3_reset(statement);
}

int64_t query_integer(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = prepare(db, sql);
    if (sqlite3_step(statement) != SQLITE_ROW)
        fail(db, sql);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

void report(const char *workload, int64_t n, double nanoseconds, int64_t check, const char *file)
{
    workload_report("C", workload, n, nanoseconds, check, file);
}

static int compare_durations(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

double median(uint64_t *durations, int count)
{
    qsort(durations, (size_t)count, sizeof *durations, compare_durations);
    return (double)durations[count / 2];
}
