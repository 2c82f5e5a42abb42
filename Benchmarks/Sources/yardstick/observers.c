// What observing costs without a runtime: after each change the query runs again and its keys are compared.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yardstick.h"

typedef struct {
    int64_t *keys;
    int64_t count, room;
} key_array;

static void fetch_keys(sqlite3_stmt *select, key_array *array)
{
    array->count = 0;
    while (sqlite3_step(select) == SQLITE_ROW) {
        if (array->count == array->room) {
            array->room = array->room ? array->room * 2 : 1024;
            array->keys = realloc(array->keys, sizeof(int64_t) * (size_t)array->room);
        }
        array->keys[array->count++] = sqlite3_column_int64(select, 0);
    }
    sqlite3_reset(select);
}

// Position of the first difference.
static int64_t compare_keys(const key_array *old, const key_array *new)
{
    int64_t at = 0;
    while (at < old->count && at < new->count && old->keys[at] == new->keys[at])
        at++;
    return at;
}

typedef enum { modify, insert, delete } operation;

static const char *const operation_names[] = {"modify", "insert", "delete"};

typedef struct {
    sqlite3 *db;
    sqlite3_stmt *statements[3];
    int64_t count, age_limit;
} writer;

// A person that the observed query holds, or for an insertion a new one that it will hold.
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

// One small transaction.
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
            compare_keys(&old, &new);
            durations[round] = workload_nanoseconds() - start;
            key_array swap = old;
            old = new;
            new = swap;
        }
        snprintf(workload, sizeof workload, "observe-%d-%s", (int)age_limit, operation_names[operation]);
        report(workload, old.count, median(durations, rounds), old.count, job->file);
    }
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

// One hundred different queries over all people; one person changes, and one of them has to notice.
void hundred_observers(const job *job)
{
    enum { observers = 100, rounds = 3 };
    sqlite3 *db = open_database(job->file), *reader = open_database(job->file);
    query_integer(db, "SELECT sum(length(email)) FROM person");
    sqlite3_stmt *selects[observers], *update = prepare(db, "UPDATE person SET age = ?2 WHERE id = ?1");
    key_array results[observers] = {{0}};
    for (int i = 0; i < observers; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT id FROM person WHERE age = %d AND isActive = 1", i);
        selects[i] = prepare(reader, sql);
        fetch_keys(selects[i], &results[i]);
    }
    uint64_t durations[rounds];
    for (int round = 0; round < rounds; round++) {
        uint64_t start = workload_nanoseconds();
        execute(db, "BEGIN IMMEDIATE");
        sqlite3_bind_int64(update, 1, job->count / 200 + round);
        sqlite3_bind_int64(update, 2, 7);
        run(update);
        execute(db, "COMMIT");
        for (int i = 0; i < observers; i++)
            fetch_keys(selects[i], &results[i]);
        durations[round] = workload_nanoseconds() - start;
    }
    report("observers-100", observers, median(durations, rounds), observers, job->file);
}
