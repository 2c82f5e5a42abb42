#include "workload.h"

const char *const workload_person_schema =
    "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, age INTEGER, email TEXT, score REAL, isActive INTEGER,"
    " created REAL, _special BLOB) STRICT;";

const char *const workload_person_indexes =
    "CREATE INDEX person_name ON person(name); CREATE INDEX person_age ON person(age);";

const char *const workload_flight_schema =
    "CREATE TABLE airline(key INTEGER PRIMARY KEY, carrier TEXT, name TEXT) STRICT;"
    "CREATE UNIQUE INDEX airline_carrier ON airline(carrier);"

    "CREATE TABLE airport(key INTEGER PRIMARY KEY, faa TEXT, name TEXT, location INTEGER, utcOffset INTEGER,"
    " daylightSaving TEXT, timeZone TEXT) STRICT;"
    "CREATE UNIQUE INDEX airport_faa ON airport(faa);"
    "CREATE INDEX airport_location ON airport(location) WHERE location IS NOT NULL;"

    "CREATE TABLE location(key INTEGER PRIMARY KEY, latitude REAL, longitude REAL, altitude INTEGER,"
    " _special BLOB) STRICT;"

    "CREATE TABLE plane(key INTEGER PRIMARY KEY, tailnum TEXT, year INTEGER, type TEXT, manufacturer TEXT,"
    " model TEXT, engines INTEGER, seats INTEGER, speed INTEGER, engine TEXT) STRICT;"
    "CREATE UNIQUE INDEX plane_tailnum ON plane(tailnum);"

    "CREATE TABLE weather(id INTEGER PRIMARY KEY, origin INTEGER, originCode TEXT, time REAL, temperature REAL,"
    " dewPoint REAL, humidity REAL, windDirection INTEGER, windSpeed REAL, windGust REAL, precipitation REAL,"
    " pressure REAL, visibility REAL, _special BLOB) STRICT;"
    "CREATE INDEX weather_origin ON weather(origin) WHERE origin IS NOT NULL;"
    "CREATE INDEX weather_time ON weather(time);"

    "CREATE TABLE flight(id INTEGER PRIMARY KEY, scheduledDeparture REAL, year INTEGER, month INTEGER, day INTEGER,"
    " departureTime INTEGER, scheduledDepartureTime INTEGER, departureDelay INTEGER, arrivalTime INTEGER,"
    " scheduledArrivalTime INTEGER, arrivalDelay INTEGER, carrier INTEGER, number INTEGER, plane INTEGER,"
    " tailNumber TEXT, origin INTEGER, dest INTEGER, destinationCode TEXT, airTime INTEGER, distance INTEGER,"
    " _special BLOB) STRICT;"
    "CREATE INDEX flight_scheduledDeparture ON flight(scheduledDeparture);"
    "CREATE INDEX flight_carrier ON flight(carrier) WHERE carrier IS NOT NULL;"
    "CREATE INDEX flight_plane ON flight(plane) WHERE plane IS NOT NULL;"
    "CREATE INDEX flight_origin ON flight(origin) WHERE origin IS NOT NULL;"
    "CREATE INDEX flight_dest ON flight(dest) WHERE dest IS NOT NULL;";
