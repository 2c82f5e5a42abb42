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

/// Sets the bits of the rows whose text contains a pattern, and leaves the other bits unchanged. The pattern is not
/// empty. For each row, `ends` contains the offset in `bytes` at which the text ends.
void cmartlet_select_containing(
    const uint8_t *bytes, const intptr_t *ends, size_t count, const uint8_t *pattern, size_t length, uint64_t *bits);

/// Copies bytes to `lowercased` and replaces the ASCII letters A to Z by a to z.
void cmartlet_lowercase(const uint8_t *bytes, size_t count, uint8_t *lowercased);

/// Returns 1 if all bytes are below 128; otherwise 0.
int cmartlet_is_ascii(const uint8_t *bytes, size_t count);

/// Returns the number of bits that are set.
size_t cmartlet_count_bits(const uint64_t *bits, size_t words);

/// Returns the sum of the selected values.
uint64_t cmartlet_sum_u8(const uint8_t *values, size_t count, const uint64_t *mask);
uint64_t cmartlet_sum_u16(const uint16_t *values, size_t count, const uint64_t *mask);
uint64_t cmartlet_sum_u32(const uint32_t *values, size_t count, const uint64_t *mask);

/// Adds the selected values to a sum of 128 bits. `*high` and `*low` are the upper and the lower 64 bits of this sum.
void cmartlet_sum_i64(const int64_t *values, size_t count, const uint64_t *mask, int64_t *high, uint64_t *low);

/// Returns `sum` plus the selected values, which are added one after the other.
double cmartlet_sum_f64(double sum, const double *values, size_t count, const uint64_t *mask);

/// Sets `*low` to the least of `*low` and the selected values, and `*high` to the greatest of `*high` and the selected
/// values.
void cmartlet_extrema_u8(const uint8_t *values, size_t count, const uint64_t *mask, uint8_t *low, uint8_t *high);
void cmartlet_extrema_u16(const uint16_t *values, size_t count, const uint64_t *mask, uint16_t *low, uint16_t *high);
void cmartlet_extrema_u32(const uint32_t *values, size_t count, const uint64_t *mask, uint32_t *low, uint32_t *high);
void cmartlet_extrema_i64(const int64_t *values, size_t count, const uint64_t *mask, int64_t *low, int64_t *high);
void cmartlet_extrema_f64(const double *values, size_t count, const uint64_t *mask, double *low, double *high);

#endif
