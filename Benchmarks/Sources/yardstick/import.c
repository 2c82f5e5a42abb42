// Imports the five CSV files of the flight data, with the links between their rows, into the tables that Martlet would
// create.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yardstick.h"

// --- maps from codes of at most eight characters (letters and digits) to the keys of rows

enum { slots = 8192 }; // a power of two, well above the 3,322 planes

typedef struct {
    uint64_t codes[slots]; // 0 in an empty slot
    int64_t keys[slots];
} code_map;

static uint64_t packed(workload_field code)
{
    uint64_t value = 0;
    memcpy(&value, code.text, code.length < 8 ? (size_t)code.length : 8);
    return value;
}

static int slot_of(const code_map *map, uint64_t code)
{
    int slot = (int)(code * 0x9E3779B97F4A7C15ULL >> 51);
    while (map->codes[slot] && map->codes[slot] != code)
        slot = (slot + 1) & (slots - 1);
    return slot;
}

static void remember(code_map *map, workload_field code, int64_t key)
{
    int slot = slot_of(map, packed(code));
    map->codes[slot] = packed(code);
    map->keys[slot] = key;
}

// --- binding of fields

static void bind_text(sqlite3_stmt *insert, int at, workload_field field)
{
    if (workload_field_is_missing(field))
        sqlite3_bind_null(insert, at);
    else
        sqlite3_bind_text(insert, at, field.text, field.length, SQLITE_STATIC);
}

static void bind_integer(sqlite3_stmt *insert, int at, workload_field field)
{
    if (workload_field_is_missing(field))
        sqlite3_bind_null(insert, at);
    else
        sqlite3_bind_int64(insert, at, workload_field_integer(field));
}

static void bind_double(sqlite3_stmt *insert, int at, workload_field field)
{
    if (workload_field_is_missing(field))
        sqlite3_bind_null(insert, at);
    else
        sqlite3_bind_double(insert, at, workload_field_double(field));
}

static void bind_link(sqlite3_stmt *insert, int at, const code_map *map, workload_field field)
{
    int slot = slot_of(map, packed(field));
    if (map->codes[slot])
        sqlite3_bind_int64(insert, at, map->keys[slot]);
    else
        sqlite3_bind_null(insert, at);
}

static void bind_time(sqlite3_stmt *insert, int at, workload_field field)
{
    sqlite3_bind_double(insert, at, (double)workload_field_seconds(field));
}

// --- the five files

static void import_airlines(sqlite3 *db, const char *folder, code_map *airlines)
{
    sqlite3_stmt *insert = prepare(db, "INSERT INTO airline VALUES(?, ?, ?)");
    workload_csv csv = workload_csv_open(folder, "airlines");
    workload_field f[2];
    for (int64_t key = 1; workload_csv_next(&csv, f, 2); key++) {
        sqlite3_bind_int64(insert, 1, key);
        bind_text(insert, 2, f[0]);
        bind_text(insert, 3, f[1]);
        run(insert);
        remember(airlines, f[0], key);
    }
    sqlite3_finalize(insert);
    workload_csv_close(&csv);
}

static void import_airports(sqlite3 *db, const char *folder, code_map *airports)
{
    sqlite3_stmt *insert = prepare(db, "INSERT INTO airport VALUES(?, ?, ?, ?, ?, ?, ?)");
    sqlite3_stmt *insert_location = prepare(db, "INSERT INTO location VALUES(?, ?, ?, ?, NULL)");
    workload_csv csv = workload_csv_open(folder, "airports");
    workload_field f[8];
    for (int64_t key = 1; workload_csv_next(&csv, f, 8); key++) {
        sqlite3_bind_int64(insert_location, 1, key);
        bind_double(insert_location, 2, f[2]);
        bind_double(insert_location, 3, f[3]);
        bind_integer(insert_location, 4, f[4]);
        run(insert_location);
        sqlite3_bind_int64(insert, 1, key);
        bind_text(insert, 2, f[0]);
        bind_text(insert, 3, f[1]);
        sqlite3_bind_int64(insert, 4, key);
        bind_integer(insert, 5, f[5]);
        bind_text(insert, 6, f[6]);
        bind_text(insert, 7, f[7]);
        run(insert);
        remember(airports, f[0], key);
    }
    sqlite3_finalize(insert_location);
    sqlite3_finalize(insert);
    workload_csv_close(&csv);
}

static void import_planes(sqlite3 *db, const char *folder, code_map *planes)
{
    sqlite3_stmt *insert = prepare(db, "INSERT INTO plane VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    workload_csv csv = workload_csv_open(folder, "planes");
    workload_field f[9];
    for (int64_t key = 1; workload_csv_next(&csv, f, 9); key++) {
        sqlite3_bind_int64(insert, 1, key);
        for (int i = 0; i < 9; i++) {
            bool is_number = i == 1 || (i >= 5 && i <= 7);
            (is_number ? bind_integer : bind_text)(insert, i + 2, f[i]);
        }
        run(insert);
        remember(planes, f[0], key);
    }
    sqlite3_finalize(insert);
    workload_csv_close(&csv);
}

static void import_weather(sqlite3 *db, const char *folder, const code_map *airports)
{
    sqlite3_stmt *insert = prepare(db, "INSERT INTO weather VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)");
    workload_csv csv = workload_csv_open(folder, "weather");
    workload_field f[15];
    for (int64_t id = 1; workload_csv_next(&csv, f, 15); id++) {
        sqlite3_bind_int64(insert, 1, id);
        bind_link(insert, 2, airports, f[0]);
        bind_text(insert, 3, f[0]);
        bind_time(insert, 4, f[14]);
        for (int i = 5; i < 14; i++)
            (i == 8 ? bind_integer : bind_double)(insert, i, f[i]);
        run(insert);
    }
    sqlite3_finalize(insert);
    workload_csv_close(&csv);
}

// Columns of flights.csv: 0 year, 1 month, 2 day, 3 dep_time, 4 sched_dep_time, 5 dep_delay, 6 arr_time,
// 7 sched_arr_time, 8 arr_delay, 9 carrier, 10 flight, 11 tailnum, 12 origin, 13 dest, 14 air_time, 15 distance,
// 16 hour, 17 minute, 18 time_hour.
static int64_t import_rows(sqlite3 *db, const char *folder, const code_map *airlines, const code_map *airports,
                           const code_map *planes)
{
    sqlite3_stmt *insert = prepare(
        db, "INSERT INTO flight VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)");
    workload_csv csv = workload_csv_open(folder, "flights");
    workload_field f[19];
    int64_t count = 0;
    while (workload_csv_next(&csv, f, 19)) {
        sqlite3_bind_int64(insert, 1, ++count);
        bind_time(insert, 2, f[18]);
        for (int i = 0; i < 9; i++)
            bind_integer(insert, i + 3, f[i]);
        bind_link(insert, 12, airlines, f[9]);
        bind_integer(insert, 13, f[10]);
        bind_link(insert, 14, planes, f[11]);
        bind_text(insert, 15, f[11]);
        bind_link(insert, 16, airports, f[12]);
        bind_link(insert, 17, airports, f[13]);
        bind_text(insert, 18, f[13]);
        bind_integer(insert, 19, f[14]);
        bind_integer(insert, 20, f[15]);
        run(insert);
    }
    sqlite3_finalize(insert);
    workload_csv_close(&csv);
    return count;
}

void import_flights(const job *job)
{
    static code_map airlines, airports, planes;
    if (!job->folder) {
        fprintf(stderr, "yardstick: the import needs a folder of CSV files\n");
        exit(2);
    }
    sqlite3 *db = open_database(job->file);
    execute(db, workload_flight_schema);
    uint64_t start = workload_nanoseconds();
    execute(db, "BEGIN IMMEDIATE");
    import_airlines(db, job->folder, &airlines);
    import_airports(db, job->folder, &airports);
    import_planes(db, job->folder, &planes);
    import_weather(db, job->folder, &airports);
    int64_t count = import_rows(db, job->folder, &airlines, &airports, &planes);
    execute(db, "COMMIT");
    double each = (double)(workload_nanoseconds() - start) / (double)count;
    int64_t check = query_integer(db, "SELECT count(plane) + count(dest) + sum(distance) FROM flight");
    sqlite3_close(db);
    report("import", count, each, check, job->file);
}
