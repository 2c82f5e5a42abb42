#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

workload_csv workload_csv_open(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    workload_csv csv = {malloc(size + 1), NULL, NULL};
    if (!csv.bytes || fread(csv.bytes, 1, size, file) != size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    csv.bytes[size] = 0;
    csv.end = csv.bytes + size;
    char *header = memchr(csv.bytes, '\n', size);
    csv.next = header ? header + 1 : csv.end;
    return csv;
}

bool workload_csv_next(workload_csv *csv, workload_field *fields, int limit)
{
    if (csv->next >= csv->end)
        return false;
    char *at = csv->next;
    char *line_end = memchr(at, '\n', (size_t)(csv->end - at));
    if (!line_end)
        line_end = csv->end;
    csv->next = line_end + 1;
    for (int i = 0; i < limit; i++) {
        char *comma = memchr(at, ',', (size_t)(line_end - at));
        char *field_end = comma ? comma : line_end;
        fields[i] = (workload_field){at, (int)(field_end - at)};
        at = comma ? comma + 1 : line_end;
    }
    return true;
}

void workload_csv_close(workload_csv *csv)
{
    free(csv->bytes);
    *csv = (workload_csv){0};
}

bool workload_field_is_missing(workload_field field)
{
    return field.length == 2 && field.text[0] == 'N' && field.text[1] == 'A';
}

int64_t workload_field_integer(workload_field field)
{
    return strtoll(field.text, NULL, 10);
}

double workload_field_double(workload_field field)
{
    return strtod(field.text, NULL);
}

static int two_digits(const char *text)
{
    return (text[0] - '0') * 10 + text[1] - '0';
}

// Returns the number of days from 1970-01-01 to a date. The algorithm is days_from_civil by Howard Hinnant.
static int64_t days_from_civil(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

int64_t workload_field_seconds(workload_field field)
{
    const char *text = field.text;
    int year = two_digits(text) * 100 + two_digits(text + 2);
    int64_t days = days_from_civil(year, two_digits(text + 5), two_digits(text + 8));
    return days * 86400 + two_digits(text + 11) * 3600 + two_digits(text + 14) * 60 + two_digits(text + 17);
}
