#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "yardstick.h"

enum { rounds = 500, readers = 4, lookups = 100, transactions = 1000, group_size = 64 };

static void report_latencies(const char *where, uint64_t *durations, const char *file)
{
    char name[64];
    double middle = median(durations, rounds); // sorts the durations
    snprintf(name, sizeof name, "latency-%s", where);
    report(name, rounds, middle, rounds, file);
    snprintf(name, sizeof name, "latency-%s-99", where);
    report(name, rounds, (double)durations[rounds * 99 / 100], rounds, file);
}

// --- The latency of a commit: the time from the start of `COMMIT` until another thread or process has read the new
// value. The writer wakes the reader directly after each commit.

typedef struct {
    const char *file;
    sem_t committed, observed;
    uint64_t time;
} observer_state;

static uint64_t read_age(sqlite3_stmt *select)
{
    sqlite3_step(select);
    sqlite3_column_int64(select, 0);
    sqlite3_reset(select);
    return workload_nanoseconds();
}

static void *observe_thread(void *context)
{
    observer_state *observer_state = context;
    sqlite3 *db = open_database(observer_state->file);
    sqlite3_stmt *select = prepare(db, "SELECT age FROM person WHERE id = 0");
    for (int i = 0; i < rounds; i++) {
        sem_wait(&observer_state->committed);
        observer_state->time = read_age(select);
        sem_post(&observer_state->observed);
    }
    return NULL;
}

static uint64_t update_age_and_commit(sqlite3_stmt *update, sqlite3_stmt *begin, sqlite3_stmt *commit, int age)
{
    run(begin);
    sqlite3_bind_int64(update, 1, age);
    run(update);
    uint64_t start = workload_nanoseconds();
    run(commit);
    return start;
}

static void thread_latency(const job *job, sqlite3_stmt *update, sqlite3_stmt *begin, sqlite3_stmt *commit)
{
    uint64_t durations[rounds];
    observer_state other = {.file = job->file};
    pthread_t thread;
    sem_init(&other.committed, 0, 0);
    sem_init(&other.observed, 0, 0);
    pthread_create(&thread, NULL, observe_thread, &other);
    for (int i = 0; i < rounds; i++) {
        uint64_t start = update_age_and_commit(update, begin, commit, 1000 + i);
        sem_post(&other.committed);
        sem_wait(&other.observed);
        durations[i] = other.time - start;
    }
    pthread_join(thread, NULL);
    report_latencies("thread", durations, job->file);
}

// This function forks the child process before the parent opens the file, because a child process must not use SQLite
// connections of its parent.
void latency(const job *job)
{
    int committed[2], observed[2];
    if (pipe(committed) != 0 || pipe(observed) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        char signal_byte;
        sqlite3_stmt *select = prepare(open_database(job->file), "SELECT age FROM person WHERE id = 0");
        for (int i = 0; i < rounds && read(committed[0], &signal_byte, 1) == 1; i++) {
            uint64_t time = read_age(select);
            if (write(observed[1], &time, sizeof time) != sizeof time)
                _exit(1);
        }
        _exit(0);
    }
    uint64_t durations[rounds];
    sqlite3 *db = open_database(job->file);
    sqlite3_stmt *begin = prepare(db, "BEGIN IMMEDIATE"), *commit = prepare(db, "COMMIT");
    sqlite3_stmt *update = prepare(db, "UPDATE person SET age = ?1 WHERE id = 0");
    for (int i = 0; i < rounds; i++) {
        uint64_t time, start = update_age_and_commit(update, begin, commit, 100 + i);
        if (write(committed[1], "", 1) != 1 || read(observed[0], &time, sizeof time) != sizeof time)
            exit(1);
        durations[i] = time - start;
    }
    waitpid(child, NULL, 0);
    report_latencies("process", durations, job->file);
    thread_latency(job, update, begin, commit);
}

// --- One writer and four readers, for two seconds.

typedef struct {
    const char *file;
    int64_t count;
    uint64_t seed;
    atomic_bool *is_finished;
    int64_t reads;
} reader;

static void *read_thread(void *context)
{
    reader *reader = context;
    sqlite3 *db = open_database(reader->file);
    sqlite3_stmt *begin = prepare(db, "BEGIN"), *commit = prepare(db, "COMMIT");
    sqlite3_stmt *select = prepare(db, "SELECT * FROM person WHERE id = ?1");
    while (!atomic_load(reader->is_finished)) {
        run(begin);
        for (int i = 0; i < lookups; i++) {
            sqlite3_bind_int64(select, 1, (int64_t)(workload_random(&reader->seed) % (uint64_t)reader->count));
            sqlite3_step(select);
            sqlite3_column_int64(select, 2);
            sqlite3_reset(select);
        }
        run(commit);
        reader->reads += lookups;
    }
    return NULL;
}

void readers_and_writer(const job *job)
{
    sqlite3 *db = open_database(job->file);
    sqlite3_stmt *begin = prepare(db, "BEGIN IMMEDIATE"), *commit = prepare(db, "COMMIT");
    sqlite3_stmt *update = prepare(db, "UPDATE person SET age = ?1 WHERE id = 0");
    atomic_bool is_finished = false;
    pthread_t threads[readers];
    reader each[readers];
    for (int i = 0; i < readers; i++) {
        each[i] = (reader){job->file, job->count, (uint64_t)i + 1, &is_finished, 0};
        pthread_create(&threads[i], NULL, read_thread, &each[i]);
    }
    uint64_t start = workload_nanoseconds(), end = start;
    int64_t writes = 0, reads = 0;
    for (; end < start + 2000000000; end = workload_nanoseconds(), writes++)
        update_age_and_commit(update, begin, commit, (int)writes);
    atomic_store(&is_finished, true);
    for (int i = 0; i < readers; i++) {
        pthread_join(threads[i], NULL);
        reads += each[i].reads;
    }
    report("beside-readers", 1, (double)(end - start) / (double)writes, 1, job->file);
    report("beside-writer", readers, (double)(end - start) / (double)reads, readers, job->file);
}

// --- Transactions that are committed to disk in groups.

void grouped_transactions(const job *job)
{
    workload_person person;
    sqlite3 *db = open_database(job->file);
    create_person_table(db, false);
    sqlite3_stmt *insert = prepare(db, insert_person);
    uint64_t start = workload_nanoseconds();
    for (int64_t i = 0; i < transactions; i++) {
        if (i % group_size == 0)
            execute(db, "BEGIN IMMEDIATE");
        execute(db, "SAVEPOINT one");
        workload_make_person(i, &person);
        bind_person(insert, &person);
        run(insert);
        execute(db, "RELEASE one");
        if (i % group_size == group_size - 1 || i == transactions - 1)
            execute(db, "COMMIT");
    }
    double each = (double)(workload_nanoseconds() - start) / transactions;
    report("grouped-transactions", transactions, each, query_integer(db, "SELECT count(*) FROM person"), job->file);
}
