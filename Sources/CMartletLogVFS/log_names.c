#include "log_names.h"

#include <string.h>

static const char MAGIC[4] = {'M', 'R', 'T', 'L'};

bool cmartlet_are_log_names(const uint8_t names[LOG_NAMES_SIZE]) {
    return memcmp(names + 16, MAGIC, sizeof MAGIC) == 0;
}

/* Reads the log names, which cmartlet_log_vfs.h describes, from the file. Sets `has_names` to false if the file
   contains none. */
static int read_log_names(sqlite3_file *database, uint8_t names[LOG_NAMES_SIZE], bool *has_names) {
    memset(names, 0, LOG_NAMES_SIZE);
    int result = database->pMethods->xRead(database, names, LOG_NAMES_SIZE, LOG_NAMES_OFFSET);
    *has_names = result == SQLITE_OK && cmartlet_are_log_names(names);
    return result == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : result;
}

int cmartlet_record_log_name(sqlite3_file *database, const uint8_t salts[SALTS_SIZE]) {
    sqlite3_int64 size = 0;
    int result = database->pMethods->xFileSize(database, &size);
    if (result != SQLITE_OK || size < SMALLEST_PAGE) return result;
    uint8_t old[LOG_NAMES_SIZE], names[LOG_NAMES_SIZE] = {0};
    bool has_names;
    result = read_log_names(database, old, &has_names);
    if (result != SQLITE_OK) return result;
    if (has_names && memcmp(old, salts, SALTS_SIZE) == 0) return SQLITE_OK;
    memcpy(names, salts, SALTS_SIZE);
    if (has_names) memcpy(names + SALTS_SIZE, old, SALTS_SIZE);
    memcpy(names + 16, MAGIC, sizeof MAGIC);
    return database->pMethods->xWrite(database, names, LOG_NAMES_SIZE, LOG_NAMES_OFFSET);
}

int cmartlet_write_first_page(sqlite3_file *database, const void *bytes, int amount) {
    uint8_t names[LOG_NAMES_SIZE];
    bool has_names;
    int result = read_log_names(database, names, &has_names);
    if (result != SQLITE_OK) return result;
    if (!has_names) return database->pMethods->xWrite(database, bytes, amount, 0);
    uint8_t *page = sqlite3_malloc(amount);
    if (!page) return SQLITE_IOERR_NOMEM;
    memcpy(page, bytes, (size_t)amount);
    memcpy(page + LOG_NAMES_OFFSET, names, LOG_NAMES_SIZE);
    result = database->pMethods->xWrite(database, page, amount, 0);
    sqlite3_free(page);
    return result;
}
