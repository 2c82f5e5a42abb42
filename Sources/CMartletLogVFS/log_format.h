/* The format of SQLite's write-ahead log, and of the index of the log (the `-shm` file). The format of the log:
   https://sqlite.org/fileformat2.html#wal_file_format */
#ifndef CMARTLET_LOG_FORMAT_H
#define CMARTLET_LOG_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

enum { LOG_HEADER_SIZE = 32, FRAME_HEADER_SIZE = 24, SALTS_SIZE = 8 };

/* The index begins with two copies of its header. The next four bytes contain the number of frames that have been
   copied into the database file:
   https://sqlite.org/walformat.html#the_wal_index_file_format */
enum { INDEX_REGION_SIZE = 32768, INDEX_HEADER_SIZE = 48, INDEX_PREFIX_SIZE = 2 * INDEX_HEADER_SIZE + 4 };

/* Offsets in the header of the index: of the page size, of the number of frames in the log, of the checksum of the last
   frame, and of the salts. */
enum { INDEX_PAGE_SIZE_OFFSET = 14, INDEX_FRAMES_OFFSET = 16, INDEX_CHECKSUM_OFFSET = 24, INDEX_SALTS_OFFSET = 32 };

/* The salts as one number, with the first salt in the upper half. */
uint64_t cmartlet_salts(const uint8_t salts[SALTS_SIZE]);

uint32_t cmartlet_big_endian(const uint8_t *bytes);

/* True if SQLite would read a log with this header. */
bool cmartlet_is_log_header(const uint8_t header[LOG_HEADER_SIZE]);

/* Returns the offset of the last frame that the index describes, in bytes from the start of the log. Returns -1 if the
   index describes no frame. */
int64_t cmartlet_last_frame_offset(const uint8_t index[INDEX_PREFIX_SIZE]);

/* True if `frame` is the header of the last frame that the index describes. Up to this frame, the log then contains
   exactly the frames that the index describes, because the checksum of a frame covers all frames before it. */
bool cmartlet_is_last_frame(const uint8_t index[INDEX_PREFIX_SIZE], const uint8_t frame[FRAME_HEADER_SIZE]);

#endif
