#ifndef CMARTLET_COLUMNS_H
#define CMARTLET_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

// Loops over the values of one block of a column.
//
// A bitmap has one bit for each row: bit r % 64 of word r / 64. The bits after the last row are zero. A mask selects
// rows; NULL selects all rows.

/// Writes the bitmap of the rows with low <= value <= high.
void cmartlet_range_u8(const uint8_t *values, size_t count, uint8_t low, uint8_t high, uint64_t *bits);
void cmartlet_range_u16(const uint16_t *values, size_t count, uint16_t low, uint16_t high, uint64_t *bits);
void cmartlet_range_u32(const uint32_t *values, size_t count, uint32_t low, uint32_t high, uint64_t *bits);
void cmartlet_range_i64(const int64_t *values, size_t count, int64_t low, int64_t high, uint64_t *bits);
void cmartlet_range_f64(const double *values, size_t count, double low, double high, uint64_t *bits);

/// Sets the bits of the texts that contain a pattern, which is not empty. `ends` has the end of each text in `bytes`.
void cmartlet_select_containing(
    const uint8_t *bytes, const intptr_t *ends, size_t count, const uint8_t *pattern, size_t length, uint64_t *bits);

/// Writes bytes with the letters A to Z of ASCII replaced by a to z.
void cmartlet_lowercase(const uint8_t *bytes, size_t count, uint8_t *lowercased);

/// Returns 1 if all bytes are below 128; otherwise 0.
int cmartlet_is_ascii(const uint8_t *bytes, size_t count);

/// Returns the number of ones.
size_t cmartlet_count_bits(const uint64_t *bits, size_t words);

/// Returns the sum of the selected values.
uint64_t cmartlet_sum_u8(const uint8_t *values, size_t count, const uint64_t *mask);
uint64_t cmartlet_sum_u16(const uint16_t *values, size_t count, const uint64_t *mask);
uint64_t cmartlet_sum_u32(const uint32_t *values, size_t count, const uint64_t *mask);

/// Adds the selected values to the sum whose halves are `*high` and `*low`.
void cmartlet_sum_i64(const int64_t *values, size_t count, const uint64_t *mask, int64_t *high, uint64_t *low);

/// Adds the selected values to `sum`, one after the other.
double cmartlet_sum_f64(double sum, const double *values, size_t count, const uint64_t *mask);

/// Replaces `*low` and `*high` by the least and the greatest of the selected values and of their former values.
void cmartlet_extrema_u8(const uint8_t *values, size_t count, const uint64_t *mask, uint8_t *low, uint8_t *high);
void cmartlet_extrema_u16(const uint16_t *values, size_t count, const uint64_t *mask, uint16_t *low, uint16_t *high);
void cmartlet_extrema_u32(const uint32_t *values, size_t count, const uint64_t *mask, uint32_t *low, uint32_t *high);
void cmartlet_extrema_i64(const int64_t *values, size_t count, const uint64_t *mask, int64_t *low, int64_t *high);
void cmartlet_extrema_f64(const double *values, size_t count, const uint64_t *mask, double *low, double *high);

#endif
