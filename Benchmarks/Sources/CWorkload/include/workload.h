// The code that all peers share: the data, the clock, the CSV reader and the output format of measurements. All peers
// process the same bytes; run.py compares `check` in their output.
#ifndef WORKLOAD_H
#define WORKLOAD_H
#include <stdbool.h>
#include <stdint.h>

// A person of the benchmark, computed from its number. Texts are not null-terminated.
typedef struct {
    int64_t id;
    char name[16];
    int64_t age; // 0 to 99
    char email[24];
    double score; // 0 up to 1000
    bool is_active;
    int64_t created_seconds; // since 1970
} workload_person;

void workload_make_person(int64_t number, workload_person *person);

// The next pseudo-random number of a sequence (SplitMix64).
uint64_t workload_random(uint64_t *state);

uint64_t workload_nanoseconds(void);
int64_t workload_peak_kilobytes(void);

// In each round a thousand persons change, at equal distances among all persons. Returns the number of the person at
// `index` among those that change.
int64_t workload_changed_person(int64_t index, int64_t round, int64_t count);

// The size of a database in bytes: the file and its write-ahead log.
int64_t workload_database_bytes(const char *path);

// Prints a measurement as a line of JSON. `n` is the size of the data, `nanoseconds` the duration of one operation.
void workload_report(const char *peer, const char *workload, int64_t n, double nanoseconds, int64_t check,
                     const char *database);

// Tables as Martlet creates them for the schemas of the benchmark: STRICT, an integer key, text primary keys as unique
// indexes, dates as seconds in REAL, an indexed column of keys for every link, embedded objects in their own tables,
// and a `_special` column (here always NULL) in tables with floating-point values.
extern const char *const workload_person_schema;
extern const char *const workload_person_indexes;
extern const char *const workload_flight_schema;

// A CSV file in memory. The files of the benchmark contain no quotes, so a field is the text between two commas.
typedef struct {
    char *bytes;
    char *next;
    char *end;
} workload_csv;

typedef struct {
    const char *text;
    int length;
} workload_field;

// Reads `folder`/`name`.csv and skips its header. Exits with a message if it cannot.
workload_csv workload_csv_open(const char *folder, const char *name);
// Reads at most `limit` fields of the next row. Returns false at the end.
bool workload_csv_next(workload_csv *csv, workload_field *fields, int limit);
void workload_csv_close(workload_csv *csv);

bool workload_field_is_missing(workload_field field);
int64_t workload_field_integer(workload_field field);
double workload_field_double(workload_field field);
// Seconds since 1970 of a time such as 2013-01-01T10:00:00Z.
int64_t workload_field_seconds(workload_field field);
#endif
