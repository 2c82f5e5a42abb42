#define _GNU_SOURCE
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static const uint64_t seed = 0x4D6172746C6574ULL; // the bytes of "Martlet"

uint64_t workload_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

static void write_letters(uint64_t value, char *out, int count)
{
    for (int i = 0; i < count; i++) {
        out[i] = (char)('a' + value % 26);
        value /= 26;
    }
}

void workload_make_person(int64_t number, workload_person *person)
{
    uint64_t state = seed ^ ((uint64_t)number * 0xD1B54A32D192ED03ULL);
    person->id = number;
    write_letters(workload_random(&state), person->name, 8);
    write_letters(workload_random(&state), person->name + 8, 8);
    person->age = (int64_t)(workload_random(&state) % 100);
    write_letters(workload_random(&state), person->email, 12);
    memcpy(person->email + 12, "@example.com", 12);
    person->score = (double)(workload_random(&state) >> 11) * (1000.0 / 9007199254740992.0);
    person->is_active = workload_random(&state) & 1;
    person->created_seconds = 1600000000 + (int64_t)(workload_random(&state) % 100000000);
}

uint64_t workload_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

// On Linux, ru_maxrss of a child process begins with the value of its parent. Therefore this function reads the peak of
// this process from /proc.
int64_t workload_peak_kilobytes(void)
{
#ifdef __linux__
    char line[256];
    long long kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %lld kB", &kilobytes) == 1)
            break;
    if (status)
        fclose(status);
    return kilobytes;
#else
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
#endif
}

static int64_t file_bytes(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (int64_t)status.st_size : 0;
}

int64_t workload_changed_person(int64_t index, int64_t round, int64_t count)
{
    return (index * (count / 1000) + round * 17 + 3) % count;
}

int64_t workload_database_bytes(const char *path)
{
    char log[4096];
    snprintf(log, sizeof log, "%s-wal", path);
    return file_bytes(path) + file_bytes(log);
}

void workload_report(const char *peer, const char *workload, int64_t n, double nanoseconds, int64_t check,
                     const char *database)
{
    printf("{\"peer\":\"%s\",\"workload\":\"%s\",\"n\":%lld,\"nanoseconds\":%.2f,\"check\":%lld,"
           "\"peak_kilobytes\":%lld,\"file_bytes\":%lld}\n",
           peer, workload, (long long)n, nanoseconds, (long long)check, (long long)workload_peak_kilobytes(),
           (long long)(database ? workload_database_bytes(database) : 0));
    fflush(stdout);
}
