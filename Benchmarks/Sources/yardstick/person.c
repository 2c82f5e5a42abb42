#include "yardstick.h"

void create_person_table(sqlite3 *db, bool indexed)
{
    execute(db, workload_person_schema);
    if (indexed)
        execute(db, workload_person_indexes);
}

const char *const insert_person =
    "INSERT INTO person(id, name, age, email, score, isActive, created) VALUES(?, ?, ?, ?, ?, ?, ?)";

void bind_person(sqlite3_stmt *insert, const workload_person *person)
{
    sqlite3_bind_int64(insert, 1, person->id);
    sqlite3_bind_text(insert, 2, person->name, sizeof person->name, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, person->age);
    sqlite3_bind_text(insert, 4, person->email, sizeof person->email, SQLITE_STATIC);
    sqlite3_bind_double(insert, 5, person->score);
    sqlite3_bind_int64(insert, 6, person->is_active);
    sqlite3_bind_double(insert, 7, (double)person->created_seconds);
}
