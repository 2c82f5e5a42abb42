#include "yardstick.h"

void create_person_table(sqlite3 *db, bool indexed)
{
    execute(db, "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL,"
                "email TEXT NOT NULL, score REAL NOT NULL, isActive INTEGER NOT NULL, created INTEGER NOT NULL) STRICT");
    if (indexed)
        execute(db, "CREATE INDEX person_age ON person(age); CREATE INDEX person_name ON person(name)");
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
    sqlite3_bind_int64(insert, 7, person->created_seconds * 1000000);
}
