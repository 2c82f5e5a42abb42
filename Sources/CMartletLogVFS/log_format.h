/* The format of the log: https://sqlite.org/fileformat2.html#wal_file_format */
#ifndef CMARTLET_LOG_FORMAT_H
#define CMARTLET_LOG_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

enum { LOG_HEADER_SIZE = 32, FRAME_HEADER_SIZE = 24, SALTS_SIZE = 8 };

/* The index begins with two copies of its header. The next four bytes contain the number of frames that have been
   copied into the database file:
   https://sqlite.org/walformat.html#the_wal_index_file_format */
enum { INDEX_REGION = 32768, INDEX_HEADER = 48, INDEX_PREFIX_SIZE = 2 * INDEX_HEADER + 4 };
enum { INDEX_PAGE_SIZE = 14, INDEX_FRAMES = 16, INDEX_CHECKSUM = 24, INDEX_SALTS = 32 };

uint64_t cmartlet_salts(const uint8_t salts[SALTS_SIZE]);

uint32_t cmartlet_big_endian(const uint8_t *bytes);

/* True if SQLite would read a log with this header. */
bool cmartlet_is_log_header(const uint8_t header[LOG_HEADER_SIZE]);

/* The offset of the last frame that the index describes, in bytes from the start of the log; -1 if the index describes
   no frame. */
int64_t cmartlet_last_frame_offset(const uint8_t index[INDEX_PREFIX_SIZE]);

/* True if a frame header is the header of the last frame that the index describes. If so, the log contains exactly the
   frames that the index describes, up to this one, because the checksum of a frame covers all frames before it. */
bool cmartlet_is_last_frame(const uint8_t index[INDEX_PREFIX_SIZE], const uint8_t frame[FRAME_HEADER_SIZE]);

#endif
