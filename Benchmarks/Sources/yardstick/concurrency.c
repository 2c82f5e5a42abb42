#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "yardstick.h"

enum { rounds = 500, readers = 4, looks = 100, queued = 1000, together = 64 };

static void report_latencies(const char *where, uint64_t *durations, const char *file)
{
    char name[64];
    double middle = median(durations, rounds);
    snprintf(name, sizeof name, "latency-%s", where);
    report(name, rounds, middle, rounds, file);
    snprintf(name, sizeof name, "latency-%s-99", where);
    report(name, rounds, (double)durations[rounds * 99 / 100], rounds, file);
}

// --- A thread or process that is told by hand that something was committed, and reads what it was.

typedef struct {
    const char *file;
    sem_t committed, seen;
    uint64_t when;
} watcher;

static uint64_t look(sqlite3_stmt *select)
{
    sqlite3_step(select);
    sqlite3_column_int64(select, 0);
    sqlite3_reset(select);
    return workload_nanoseconds();
}

static void *watch(void *context)
{
    watcher *watcher = context;
    sqlite3 *db = open_database(watcher->file);
    sqlite3_stmt *select = prepare(db, "SELECT age FROM person WHERE id = 0");
    for (int i = 0; i < rounds; i++) {
        sem_wait(&watcher->committed);
        watcher->when = look(select);
        sem_post(&watcher->seen);
    }
    return NULL;
}

static uint64_t commit_age(sqlite3 *db, sqlite3_stmt *update, sqlite3_stmt *begin, sqlite3_stmt *commit, int age)
{
    (void)db;
    run(begin);
    sqlite3_bind_int64(update, 1, age);
    run(update);
    uint64_t start = workload_nanoseconds();
    run(commit);
    return start;
}

static void other_thread(const job *job, sqlite3 *db, sqlite3_stmt *update, sqlite3_stmt *begin, sqlite3_stmt *commit)
{
    uint64_t durations[rounds];
    watcher other = {.file = job->file};
    pthread_t thread;
    sem_init(&other.committed, 0, 0);
    sem_init(&other.seen, 0, 0);
    pthread_create(&thread, NULL, watch, &other);
    for (int i = 0; i < rounds; i++) {
        uint64_t start = commit_age(db, update, begin, commit, 1000 + i);
        sem_post(&other.committed);
        sem_wait(&other.seen);
        durations[i] = other.when - start;
    }
    pthread_join(thread, NULL);
    report_latencies("thread", durations, job->file);
}

// The child is made before the parent opens the file, which connections of SQLite do not survive.
void latency(const job *job)
{
    int committed[2], seen[2];
    if (pipe(committed) != 0 || pipe(seen) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        char told;
        sqlite3_stmt *select = prepare(open_database(job->file), "SELECT age FROM person WHERE id = 0");
        for (int i = 0; i < rounds && read(committed[0], &told, 1) == 1; i++) {
            uint64_t when = look(select);
            if (write(seen[1], &when, sizeof when) != sizeof when)
                _exit(1);
        }
        _exit(0);
    }
    uint64_t durations[rounds];
    sqlite3 *db = open_database(job->file);
    sqlite3_stmt *begin = prepare(db, "BEGIN IMMEDIATE"), *commit = prepare(db, "COMMIT");
    sqlite3_stmt *update = prepare(db, "UPDATE person SET age = ?1 WHERE id = 0");
    for (int i = 0; i < rounds; i++) {
        uint64_t when, start = commit_age(db, update, begin, commit, 100 + i);
        if (write(committed[1], "", 1) != 1 || read(seen[0], &when, sizeof when) != sizeof when)
            exit(1);
        durations[i] = when - start;
    }
    waitpid(child, NULL, 0);
    report_latencies("process", durations, job->file);
    other_thread(job, db, update, begin, commit);
}

// --- One writer and four readers, for two seconds.

typedef struct {
    const char *file;
    int64_t count;
    uint64_t seed;
    atomic_bool *is_over;
    int64_t reads;
} reader;

static void *read_on(void *context)
{
    reader *reader = context;
    sqlite3 *db = open_database(reader->file);
    sqlite3_stmt *begin = prepare(db, "BEGIN"), *commit = prepare(db, "COMMIT");
    sqlite3_stmt *select = prepare(db, "SELECT * FROM person WHERE id = ?1");
    while (!atomic_load(reader->is_over)) {
        run(begin);
        for (int i = 0; i < looks; i++) {
            sqlite3_bind_int64(select, 1, (int64_t)(workload_random(&reader->seed) % (uint64_t)reader->count));
            sqlite3_step(select);
            sqlite3_column_int64(select, 2);
            sqlite3_reset(select);
        }
        run(commit);
        reader->reads += looks;
    }
    return NULL;
}

void readers_and_writer(const job *job)
{
    sqlite3 *db = open_database(job->file);
    sqlite3_stmt *begin = prepare(db, "BEGIN IMMEDIATE"), *commit = prepare(db, "COMMIT");
    sqlite3_stmt *update = prepare(db, "UPDATE person SET age = ?1 WHERE id = 0");
    atomic_bool is_over = false;
    pthread_t threads[readers];
    reader each[readers];
    for (int i = 0; i < readers; i++) {
        each[i] = (reader){job->file, job->count, (uint64_t)i + 1, &is_over, 0};
        pthread_create(&threads[i], NULL, read_on, &each[i]);
    }
    uint64_t start = workload_nanoseconds(), end = start;
    int64_t writes = 0, reads = 0;
    for (; end < start + 2000000000; end = workload_nanoseconds(), writes++)
        commit_age(db, update, begin, commit, (int)writes);
    atomic_store(&is_over, true);
    for (int i = 0; i < readers; i++) {
        pthread_join(threads[i], NULL);
        reads += each[i].reads;
    }
    report("beside-readers", 1, (double)(end - start) / (double)writes, 1, job->file);
    report("beside-writer", readers, (double)(end - start) / (double)reads, readers, job->file);
}

// --- Transactions that are made durable together.

void grouped_transactions(const job *job)
{
    workload_person person;
    sqlite3 *db = open_database(job->file);
    create_person_table(db, false);
    sqlite3_stmt *insert = prepare(db, insert_person);
    uint64_t start = workload_nanoseconds();
    for (int64_t i = 0; i < queued; i++) {
        if (i % together == 0)
            execute(db, "BEGIN IMMEDIATE");
        execute(db, "SAVEPOINT one");
        workload_make_person(i, &person);
        bind_person(insert, &person);
        run(insert);
        execute(db, "RELEASE one");
        if (i % together == together - 1 || i == queued - 1)
            execute(db, "COMMIT");
    }
    double each = (double)(workload_nanoseconds() - start) / queued;
    report("grouped-transactions", queued, each, query_integer(db, "SELECT count(*) FROM person"), job->file);
}
