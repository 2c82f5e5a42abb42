// The code that all compared programs (peers) share: the data, the clock, the CSV reader and the output format of
// measurements. All peers process equal data. To verify this, run.py compares the `check` values that they print.
#ifndef WORKLOAD_H
#define WORKLOAD_H
#include <stdbool.h>
#include <stdint.h>

// A person of the benchmark, computed from the number of the person. The texts are not null-terminated.
typedef struct {
    int64_t id;
    char name[16];
    int64_t age; // 0 to 99
    char email[24];
    double score; // at least 0, less than 1000
    bool is_active;
    int64_t created_seconds; // since 1970
} workload_person;

void workload_make_person(int64_t number, workload_person *person);

// Returns the next pseudo-random number of a sequence, and advances its state. The algorithm is SplitMix64.
uint64_t workload_random(uint64_t *state);

uint64_t workload_nanoseconds(void);
int64_t workload_peak_kilobytes(void);

// Each round changes a thousand people, at equal distances among all people. Returns the number of the person that is
// at position `index` (0 to 999) among these thousand people.
int64_t workload_changed_person(int64_t index, int64_t round, int64_t count);

// Returns the size of a database in bytes: the database file and its write-ahead log.
int64_t workload_database_bytes(const char *path);

// Prints a measurement as a line of JSON. `n` is the size of the workload, for example its number of objects or
// operations. `nanoseconds` is the duration of one operation. `check` is a result of the workload, and has to be equal
// for all peers. `database` is the path of the database, or NULL.
void workload_report(const char *peer, const char *workload, int64_t n, double nanoseconds, int64_t check,
                     const char *database);

// The SQL of the tables that Martlet creates for the schemas of the benchmark. All tables are STRICT and have an
// integer key. A primary key of type text has a unique index. Dates are seconds in a column of type REAL. Each link is
// an indexed column that contains the key of the target. Embedded objects have their own tables. Tables with
// floating-point values have a column `_special`, which is always NULL here.
extern const char *const workload_person_schema;
extern const char *const workload_person_indexes;
extern const char *const workload_flight_schema;

// A CSV file in memory. The files of the benchmark contain no quotes, so every comma separates two fields.
typedef struct {
    char *bytes;
    char *next;
    char *end;
} workload_csv;

typedef struct {
    const char *text;
    int length;
} workload_field;

// Reads `folder`/`name`.csv and skips its header. If the file cannot be read, the process exits with a message.
workload_csv workload_csv_open(const char *folder, const char *name);
// Reads the first `limit` fields of the next row. Returns false at the end of the file.
bool workload_csv_next(workload_csv *csv, workload_field *fields, int limit);
void workload_csv_close(workload_csv *csv);

bool workload_field_is_missing(workload_field field);
int64_t workload_field_integer(workload_field field);
double workload_field_double(workload_field field);
// Converts a time such as 2013-01-01T10:00:00Z to seconds since 1970.
int64_t workload_field_seconds(workload_field field);
#endif
