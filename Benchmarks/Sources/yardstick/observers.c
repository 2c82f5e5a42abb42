// Measures observation with SQLite alone: after each change, the program reads every observed query or object again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yardstick.h"

typedef struct {
    int64_t *keys;
    int64_t count, capacity;
} key_array;

static void fetch_keys(sqlite3_stmt *select, key_array *array)
{
    array->count = 0;
    while (sqlite3_step(select) == SQLITE_ROW) {
        if (array->count == array->capacity) {
            array->capacity = array->capacity ? array->capacity * 2 : 1024;
            array->keys = realloc(array->keys, sizeof(int64_t) * (size_t)array->capacity);
        }
        array->keys[array->count++] = sqlite3_column_int64(select, 0);
    }
    sqlite3_reset(select);
}

// Returns the position of the first difference between two arrays.
static int64_t compare_keys(const key_array *old, const key_array *new)
{
    int64_t at = 0;
    while (at < old->count && at < new->count && old->keys[at] == new->keys[at])
        at++;
    return at;
}

// Receives the results of `compare_keys`, so that the compiler does not remove the calls.
static volatile int64_t first_difference;

typedef enum { modify, insert, delete } operation;

static const char *const operation_names[] = {"modify", "insert", "delete"};

typedef struct {
    sqlite3 *db;
    sqlite3_stmt *statements[3];
    int64_t count, age_limit;
} writer;

// Returns the person that an operation changes. For an insertion, this is a new person that will match the observed
// query. Otherwise, it is a stored person that matches the query.
static workload_person choose(const writer *writer, operation operation, int64_t number)
{
    workload_person person;
    uint64_t random = (uint64_t)number * 77 + 3;
    if (operation == insert) {
        workload_make_person(writer->count * 2 + number, &person);
        person.age = 0;
        return person;
    }
    do
        workload_make_person((int64_t)(workload_random(&random) % (uint64_t)writer->count), &person);
    while (person.age >= writer->age_limit);
    return person;
}

// Changes one person in a small transaction.
static void change(const writer *writer, operation operation, const workload_person *person)
{
    sqlite3_stmt *statement = writer->statements[operation];
    execute(writer->db, "BEGIN IMMEDIATE");
    if (operation == insert)
        bind_person(statement, person);
    else
        sqlite3_bind_int64(statement, 1, person->id);
    if (operation == modify)
        sqlite3_bind_double(statement, 2, person->score + 0.5);
    run(statement);
    execute(writer->db, "COMMIT");
}

// Modifies a thousand people in one transaction. They are evenly distributed over the table.
static void change_thousand(const writer *writer, int round)
{
    sqlite3_stmt *statement = writer->statements[modify];
    execute(writer->db, "BEGIN IMMEDIATE");
    for (int64_t i = 0; i < 1000; i++) {
        sqlite3_bind_int64(statement, 1, workload_changed_person(i, round, writer->count));
        sqlite3_bind_double(statement, 2, (double)round + 0.25);
        run(statement);
    }
    execute(writer->db, "COMMIT");
}

static void observe(const job *job, int64_t age_limit)
{
    enum { rounds = 5 };
    sqlite3 *db = open_database(job->file), *reader = open_database(job->file);
    query_integer(db, "SELECT sum(length(email)) FROM person");
    char sql[128], workload[64];
    snprintf(sql, sizeof sql, "SELECT id FROM person WHERE age < %d ORDER BY name, id", (int)age_limit);
    sqlite3_stmt *select = prepare(reader, sql);
    writer writer = {db,
                     {prepare(db, "UPDATE person SET score = ?2 WHERE id = ?1"), prepare(db, insert_person),
                      prepare(db, "DELETE FROM person WHERE id = ?")},
                     job->count,
                     age_limit};
    key_array old = {0}, new = {0};
    fetch_keys(select, &old);
    for (operation operation = modify; operation <= delete; operation++) {
        uint64_t durations[rounds];
        for (int round = 0; round < rounds; round++) {
            workload_person person = choose(&writer, operation, operation * 1000 + round);
            uint64_t start = workload_nanoseconds();
            change(&writer, operation, &person);
            fetch_keys(select, &new);
            first_difference = compare_keys(&old, &new);
            durations[round] = workload_nanoseconds() - start;
            key_array swap = old;
            old = new;
            new = swap;
        }
        snprintf(workload, sizeof workload, "observe-%d-%s", (int)age_limit, operation_names[operation]);
        report(workload, old.count, median(durations, rounds), old.count, job->file);
    }
    if (age_limit < 100)
        return;
    uint64_t durations[rounds];
    for (int round = 0; round < rounds; round++) {
        uint64_t start = workload_nanoseconds();
        change_thousand(&writer, round);
        fetch_keys(select, &new);
        first_difference = compare_keys(&old, &new);
        durations[round] = workload_nanoseconds() - start;
    }
    report("observe-thousand", new.count, median(durations, rounds), new.count, job->file);
}

void observe_1_percent(const job *job)
{
    observe(job, 1);
}

void observe_10_percent(const job *job)
{
    observe(job, 10);
}

void observe_all(const job *job)
{
    observe(job, 100);
}

// Observes one query for each of `observers` ages, beginning with age 7. In each round, the age of one person becomes
// 7.
static void observe_ages(const job *job, int observers, const char *workload)
{
    enum { rounds = 3, ages = 100 };
    sqlite3 *db = open_database(job->file), *reader = open_database(job->file);
    query_integer(db, "SELECT sum(length(email)) FROM person");
    sqlite3_stmt *selects[ages], *update = prepare(db, "UPDATE person SET age = ?2 WHERE id = ?1");
    key_array results[ages] = {{0}};
    for (int i = 0; i < observers; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT id FROM person WHERE age = %d AND isActive = 1", (i + 7) % ages);
        selects[i] = prepare(reader, sql);
        fetch_keys(selects[i], &results[i]);
    }
    uint64_t durations[rounds];
    for (int round = 0; round < rounds; round++) {
        uint64_t start = workload_nanoseconds();
        execute(db, "BEGIN IMMEDIATE");
        sqlite3_bind_int64(update, 1, job->count / 200 + round + observers * 10);
        sqlite3_bind_int64(update, 2, 7);
        run(update);
        execute(db, "COMMIT");
        for (int i = 0; i < observers; i++)
            fetch_keys(selects[i], &results[i]);
        durations[round] = workload_nanoseconds() - start;
    }
    report(workload, observers, median(durations, rounds), observers, job->file);
    sqlite3_finalize(update);
    for (int i = 0; i < observers; i++)
        sqlite3_finalize(selects[i]);
    sqlite3_close(reader);
    sqlite3_close(db);
}

void hundred_observers(const job *job)
{
    observe_ages(job, 1, "observers-1");
    observe_ages(job, 100, "observers-100");
}

// Observes objects by reading all observed objects after each change. Each change modifies one of these objects. Round
// -1 changes nothing: it reads the scores for the first comparison.
static void observe_objects(const job *job, int observed, const char *workload)
{
    enum { rounds = 5 };
    sqlite3 *db = open_database(job->file), *reader = open_database(job->file);
    sqlite3_stmt *update = prepare(db, "UPDATE person SET score = ?2 WHERE id = ?1");
    sqlite3_stmt *select = prepare(reader, "SELECT score FROM person WHERE id = ?");
    double *scores = calloc((size_t)observed, sizeof *scores);
    uint64_t durations[rounds];
    int64_t changed = 0;
    for (int round = -1; round < rounds; round++) {
        uint64_t start = workload_nanoseconds();
        if (round >= 0) {
            execute(db, "BEGIN IMMEDIATE");
            sqlite3_bind_int64(update, 1, observed / 2);
            sqlite3_bind_double(update, 2, -1.0 - round);
            run(update);
            execute(db, "COMMIT");
        }
        for (int i = 0; i < observed; i++) {
            sqlite3_bind_int64(select, 1, i);
            sqlite3_step(select);
            double score = sqlite3_column_double(select, 0);
            sqlite3_reset(select);
            changed += round >= 0 && score != scores[i];
            scores[i] = score;
        }
        if (round >= 0)
            durations[round] = workload_nanoseconds() - start;
    }
    report(workload, observed, median(durations, rounds), changed, job->file);
}

void object_observers(const job *job)
{
    observe_objects(job, 1, "object-observers-1");
    observe_objects(job, 10000, "object-observers-10000");
}
