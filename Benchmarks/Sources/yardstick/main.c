#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yardstick.h"

static const struct {
    const char *name;
    void (*run)(const job *job);
} workloads[] = {
    {"insert", insert_people},
    {"insert-indexed", insert_people_indexed},
    {"import", import_flights},
    {"lookup", look_up},
    {"read-held", read_held},
    {"update-held", update_held},
    {"iterate", iterate},
    {"count", count_filtered},
    {"count-indexed", count_filtered_indexed},
    {"sort-first-100", sort_first},
    {"list", lists},
    {"observe-1", observe_1_percent},
    {"observe-10", observe_10_percent},
    {"observe-100", observe_all},
    {"observers-100", hundred_observers},
    {"object-observers", object_observers},
    {"small-transactions", small_transactions},
    {"open", open_and_read},
    {"latency", latency},
    {"readers-and-writer", readers_and_writer},
    {"grouped-transactions", grouped_transactions},
};

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: yardstick <workload> <database> <people> [<folder of CSV files>]\n");
        return 2;
    }
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    job job = {argv[2], strtoll(argv[3], NULL, 10), argc > 4 ? argv[4] : NULL};
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        if (strcmp(workloads[i].name, argv[1]) == 0) {
            workloads[i].run(&job);
            return 0;
        }
    fprintf(stderr, "yardstick: no workload '%s'\n", argv[1]);
    return 2;
}
