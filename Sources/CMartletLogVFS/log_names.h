/* The log names in a database file: the bytes that cmartlet_log_vfs.h describes. Functions that return `int` return
 * SQLite result codes. */
#ifndef CMARTLET_LOG_NAMES_H
#define CMARTLET_LOG_NAMES_H

#include "log_format.h"

#include <sqlite3.h>

enum { LOG_NAMES_OFFSET = 72, LOG_NAMES_SIZE = 20, SMALLEST_PAGE = 512 };

bool cmartlet_are_log_names(const uint8_t names[LOG_NAMES_SIZE]);

/* Writes the name of a log into the file as the name of the current log. The old name of the current log becomes the
   name of the previous log. Does nothing if the file already names this log as its current log, or if the file is
   shorter than the smallest page of SQLite. */
int cmartlet_record_log_name(sqlite3_file *database, const uint8_t salts[SALTS_SIZE]);

/* Writes the first page, except for the log names: if the file contains log names, they are preserved. */
int cmartlet_write_first_page(sqlite3_file *database, const void *bytes, int amount);

#endif
