// The bare minimum with libpq and SQLite, for comparison with the sync service and its client.
//
//   bare bootstrap <connection string> <file>               loads all flights into a file, prints the seconds
//   bare upload <connection string> <threads> <seconds>     changes one column per transaction, prints transactions/s

#include <libpq-fe.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(const char *message) {
    fprintf(stderr, "error: %s\n", message);
    exit(1);
}

static PGconn *connected(const char *address) {
    PGconn *connection = PQconnectdb(address);
    if (PQstatus(connection) != CONNECTION_OK) fail(PQerrorMessage(connection));
    return connection;
}

static void run(sqlite3 *database, const char *sql) {
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) fail(sqlite3_errmsg(database));
}

// i: integer, r: real, t: text
static const char columns[] = "iriiiiiiiiitittttttii";

static void bootstrap(const char *address, const char *path) {
    PGconn *connection = connected(address);
    sqlite3 *database;
    remove(path);
    if (sqlite3_open(path, &database) != SQLITE_OK) fail("the file cannot be created");
    double start = now();
    run(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -8000;"
                  "CREATE TABLE flight (id INTEGER PRIMARY KEY, scheduled_departure REAL, year, month, day,"
                  " departure_time, scheduled_departure_time, departure_delay, arrival_time, scheduled_arrival_time,"
                  " arrival_delay, carrier, number, plane, tail_number, origin, dest, destination_code, air_time,"
                  " distance);"
                  "CREATE INDEX departure ON flight (scheduled_departure); BEGIN");
    sqlite3_stmt *insert;
    if (sqlite3_prepare_v2(database, "INSERT INTO flight VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", -1, &insert,
                           NULL) != SQLITE_OK)
        fail(sqlite3_errmsg(database));
    PGresult *result = PQexec(
        connection, "COPY (SELECT id, extract(epoch FROM scheduled_departure), year, month, day, departure_time,"
                    " scheduled_departure_time, departure_delay, arrival_time, scheduled_arrival_time, arrival_delay,"
                    " carrier, number, plane, tail_number, origin, dest, destination_code, air_time, distance"
                    " FROM flight) TO STDOUT");
    if (PQresultStatus(result) != PGRES_COPY_OUT) fail(PQerrorMessage(connection));
    PQclear(result);
    char *line;
    int length;
    while ((length = PQgetCopyData(connection, &line, 0)) > 0) {
        char *field = line;
        line[length - 1] = 0;
        for (int column = 0; field; column++) {
            char *end = strchr(field, '\t');
            if (end) *end = 0;
            if (strcmp(field, "\\N") == 0) sqlite3_bind_null(insert, column + 1);
            else if (columns[column] == 'i') sqlite3_bind_int64(insert, column + 1, atoll(field));
            else if (columns[column] == 'r') sqlite3_bind_double(insert, column + 1, atof(field));
            else sqlite3_bind_text(insert, column + 1, field, -1, SQLITE_TRANSIENT);
            field = end ? end + 1 : NULL;
        }
        if (sqlite3_step(insert) != SQLITE_DONE) fail(sqlite3_errmsg(database));
        sqlite3_reset(insert);
        PQfreemem(line);
    }
    if (length == -2) fail(PQerrorMessage(connection));
    sqlite3_finalize(insert);
    run(database, "COMMIT");
    printf("%f\n", now() - start);
    sqlite3_close(database);
    PQfinish(connection);
}

typedef struct {
    const char *address;
    int number;
    double seconds;
    long count;
} Writer;

static void *write_rows(void *argument) {
    Writer *writer = argument;
    PGconn *connection = connected(writer->address);
    PGresult *result =
        PQprepare(connection, "update", "UPDATE flight SET departure_delay = $1 WHERE id = $2", 2, NULL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail(PQerrorMessage(connection));
    PQclear(result);
    double end = now() + writer->seconds;
    while (now() < end) {
        char delay[24], id[24];
        snprintf(delay, sizeof delay, "%ld", writer->count);
        snprintf(id, sizeof id, "%ld", writer->number * 1000 + 1 + writer->count % 999);
        const char *values[] = {delay, id};
        result = PQexecPrepared(connection, "update", 2, values, NULL, NULL, 0);
        if (PQresultStatus(result) != PGRES_COMMAND_OK) fail(PQerrorMessage(connection));
        PQclear(result);
        writer->count++;
    }
    PQfinish(connection);
    return NULL;
}

static void upload(const char *address, int count, double seconds) {
    Writer writers[64] = {0};
    pthread_t threads[64];
    if (count > 64) fail("at most 64 threads");
    for (int i = 0; i < count; i++) {
        writers[i] = (Writer){.address = address, .number = i, .seconds = seconds};
        if (pthread_create(&threads[i], NULL, write_rows, &writers[i]) != 0) fail("no thread");
    }
    long sum = 0;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum += writers[i].count;
    }
    printf("%f\n", (double)sum / seconds);
}

int main(int count, char **arguments) {
    if (count == 4 && strcmp(arguments[1], "bootstrap") == 0) bootstrap(arguments[2], arguments[3]);
    else if (count == 5 && strcmp(arguments[1], "upload") == 0)
        upload(arguments[2], atoi(arguments[3]), atof(arguments[4]));
    else fail("expected 'bootstrap <connection string> <file>' or 'upload <connection string> <threads> <seconds>'");
    return 0;
}
