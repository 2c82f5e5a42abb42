// The C program `yardstick` runs the workloads with SQLite's C API, in the fastest way that we know. Its times are the
// reference for libraries that use SQLite. A library can be faster only if it calls SQLite less often.
#ifndef YARDSTICK_H
#define YARDSTICK_H
#include <sqlite3.h>
#include <stdint.h>

#include "workload.h"

// The parameters of one run, from the command line.
typedef struct {
    const char *file;   // path of the database
    int64_t count;      // number of people in the database
    const char *folder; // folder of the CSV files that the workload `import` reads
} job;

// --- database.c: these functions exit with a message if SQLite reports an error
sqlite3 *open_database(const char *file);
void execute(sqlite3 *db, const char *sql);
sqlite3_stmt *prepare(sqlite3 *db, const char *sql);
void run(sqlite3_stmt *statement); // runs a statement that returns no rows, and resets it
int64_t query_integer(sqlite3 *db, const char *sql);
void report(const char *workload, int64_t n, double nanoseconds, int64_t check, const char *file);
double median(uint64_t *durations, int count); // sorts the durations

// --- person.c
void create_person_table(sqlite3 *db, bool indexed);
extern const char *const insert_person;
void bind_person(sqlite3_stmt *insert, const workload_person *person);

// --- the workloads
void insert_people(const job *job);
void insert_people_indexed(const job *job);
void small_transactions(const job *job);
void look_up(const job *job);
void read_held(const job *job);
void update_held(const job *job);
void iterate(const job *job);
void count_filtered(const job *job);
void count_filtered_indexed(const job *job);
void sort_first(const job *job);
void open_and_read(const job *job);
void lists(const job *job);
void observe_1_percent(const job *job);
void observe_10_percent(const job *job);
void observe_all(const job *job);
void hundred_observers(const job *job);
void object_observers(const job *job);
void import_flights(const job *job);
void latency(const job *job);
void readers_and_writer(const job *job);
void grouped_transactions(const job *job);
#endif
