#include "log_format.h"

#include <string.h>

uint64_t cmartlet_salts(const uint8_t salts[SALTS_SIZE]) {
    uint64_t number = 0;
    for (int i = 0; i < SALTS_SIZE; i++) number = number << 8 | salts[i];
    return number;
}

uint32_t cmartlet_big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t little_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

/* Checks the magic number and the checksum, as SQLite does: https://sqlite.org/fileformat2.html#wal_file_format */
bool cmartlet_is_log_header(const uint8_t header[LOG_HEADER_SIZE]) {
    uint32_t magic = cmartlet_big_endian(header);
    if ((magic & ~1u) != 0x377f0682) return false;
    uint32_t first = 0, second = 0;
    for (int i = 0; i < 24; i += 8) {
        first += (magic & 1 ? cmartlet_big_endian(header + i) : little_endian(header + i)) + second;
        second += (magic & 1 ? cmartlet_big_endian(header + i + 4) : little_endian(header + i + 4)) + first;
    }
    return first == cmartlet_big_endian(header + 24) && second == cmartlet_big_endian(header + 28);
}

int64_t cmartlet_last_frame_offset(const uint8_t index[INDEX_PREFIX_SIZE]) {
    uint32_t frames;
    uint16_t size;
    memcpy(&frames, index + INDEX_FRAMES_OFFSET, sizeof frames);
    memcpy(&size, index + INDEX_PAGE_SIZE_OFFSET, sizeof size);
    /* A page size of 65536 bytes is stored as 1. */
    int64_t page_size = (size & 0xfe00) + ((size & 1) << 16);
    return frames == 0 ? -1 : LOG_HEADER_SIZE + (page_size + FRAME_HEADER_SIZE) * ((int64_t)frames - 1);
}

bool cmartlet_is_last_frame(const uint8_t index[INDEX_PREFIX_SIZE], const uint8_t frame[FRAME_HEADER_SIZE]) {
    enum { FRAME_SALTS_OFFSET = 8, FRAME_CHECKSUM_OFFSET = 16 };
    uint32_t checksum[2];
    memcpy(checksum, index + INDEX_CHECKSUM_OFFSET, sizeof checksum);
    return memcmp(frame + FRAME_SALTS_OFFSET, index + INDEX_SALTS_OFFSET, SALTS_SIZE) == 0 &&
           cmartlet_big_endian(frame + FRAME_CHECKSUM_OFFSET) == checksum[0] &&
           cmartlet_big_endian(frame + FRAME_CHECKSUM_OFFSET + 4) == checksum[1];
}
