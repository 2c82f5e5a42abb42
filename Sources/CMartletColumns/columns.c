#if defined(__linux__)
#define _GNU_SOURCE  // memmem
#endif

#include "CMartletColumns.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GLIBC__)
// The dynamic loader chooses the variant for the processor.
#define VECTORIZED __attribute__((target_clones("avx2", "default")))
#else
#define VECTORIZED
#endif

// Packs 64 bytes, each 0 or 1, into the bits of a word. The multiplication moves the lowest bit of each of eight bytes
// to the highest byte.
static inline uint64_t packed(const uint8_t *flags) {
    uint64_t word = 0;
    for (int byte = 0; byte < 8; byte++) {
        uint64_t eight = 0;
        for (int i = 0; i < 8; i++) eight |= (uint64_t)flags[8 * byte + i] << (8 * i);
        word |= (eight * 0x0102040810204080u >> 56) << (8 * byte);
    }
    return word;
}

// One unsigned comparison of `value - low` with the width of the range tests both bounds, because the difference of a
// value below `low` wraps around to a greater number.
#define RANGE(name, type, unsigned_type)                                                                              \
    VECTORIZED void name(const type *values, size_t count, type low, type high, uint64_t *bits) {                     \
        const unsigned_type start = (unsigned_type)low, width = (unsigned_type)((unsigned_type)high - start);         \
        uint8_t flags[64];                                                                                            \
        size_t row = 0;                                                                                               \
        for (; row + 64 <= count; row += 64) {                                                                        \
            for (int i = 0; i < 64; i++)                                                                              \
                flags[i] = (unsigned_type)((unsigned_type)values[row + i] - start) <= width;                          \
            bits[row / 64] = packed(flags);                                                                           \
        }                                                                                                             \
        if (row == count) return;                                                                                     \
        memset(flags, 0, sizeof flags);                                                                               \
        for (size_t i = 0; row + i < count; i++)                                                                      \
            flags[i] = (unsigned_type)((unsigned_type)values[row + i] - start) <= width;                              \
        bits[row / 64] = packed(flags);                                                                               \
    }

RANGE(cmartlet_range_u8, uint8_t, uint8_t)
RANGE(cmartlet_range_u16, uint16_t, uint16_t)
RANGE(cmartlet_range_u32, uint32_t, uint32_t)
RANGE(cmartlet_range_i64, int64_t, uint64_t)

VECTORIZED void cmartlet_range_f64(const double *values, size_t count, double low, double high, uint64_t *bits) {
    uint8_t flags[64];
    size_t row = 0;
    for (; row + 64 <= count; row += 64) {
        for (int i = 0; i < 64; i++) flags[i] = (values[row + i] >= low) & (values[row + i] <= high);
        bits[row / 64] = packed(flags);
    }
    if (row == count) return;
    memset(flags, 0, sizeof flags);
    for (size_t i = 0; row + i < count; i++) flags[i] = (values[row + i] >= low) & (values[row + i] <= high);
    bits[row / 64] = packed(flags);
}

void cmartlet_select_containing(
    const uint8_t *bytes, const intptr_t *ends, size_t count, const uint8_t *pattern, size_t length, uint64_t *bits) {
    if (count == 0) return;
    const uint8_t *position = bytes, *const end = bytes + ends[count - 1];
    size_t row = 0;
    while (position < end) {
        const uint8_t *found = memmem(position, (size_t)(end - position), pattern, length);
        if (!found) return;
        while (bytes + ends[row] <= found) row++;
        if (found + length <= bytes + ends[row]) {
            bits[row / 64] |= (uint64_t)1 << (row % 64);
            position = bytes + ends[row];
        } else {
            // This match begins in one text and ends in another, so neither text contains the pattern here.
            position = found + 1;
        }
    }
}

VECTORIZED void cmartlet_lowercase(const uint8_t *bytes, size_t count, uint8_t *lowercased) {
    for (size_t i = 0; i < count; i++) lowercased[i] = bytes[i] + ((uint8_t)(bytes[i] - 'A') < 26 ? 32 : 0);
}

VECTORIZED int cmartlet_is_ascii(const uint8_t *bytes, size_t count) {
    uint8_t all = 0;
    for (size_t i = 0; i < count; i++) all |= bytes[i];
    return all < 128;
}

size_t cmartlet_count_bits(const uint64_t *bits, size_t words) {
    size_t count = 0;
    for (size_t word = 0; word < words; word++) count += (size_t)__builtin_popcountll(bits[word]);
    return count;
}

// Runs `body` for each row that the mask selects. `word` is the mask of 64 rows.
#define FOR_SELECTED(row, count, mask, body)                                                                          \
    for (size_t start = 0; start < (count); start += 64) {                                                            \
        uint64_t word = (mask)[start / 64];                                                                           \
        while (word) {                                                                                                \
            const size_t row = start + (size_t)__builtin_ctzll(word);                                                 \
            word &= word - 1;                                                                                         \
            body;                                                                                                     \
        }                                                                                                             \
    }

// A block has at most 2,048 rows, so the sums fit in 64 bits.
#define SUM(name, type)                                                                                               \
    VECTORIZED uint64_t name(const type *values, size_t count, const uint64_t *mask) {                                \
        uint64_t sum = 0;                                                                                             \
        if (mask) {                                                                                                   \
            FOR_SELECTED(row, count, mask, sum += values[row])                                                        \
        } else {                                                                                                      \
            for (size_t row = 0; row < count; row++) sum += values[row];                                              \
        }                                                                                                             \
        return sum;                                                                                                   \
    }

SUM(cmartlet_sum_u8, uint8_t)
SUM(cmartlet_sum_u16, uint16_t)
SUM(cmartlet_sum_u32, uint32_t)

void cmartlet_sum_i64(const int64_t *values, size_t count, const uint64_t *mask, int64_t *high, uint64_t *low) {
    __int128 sum = (__int128)(((unsigned __int128)(uint64_t)*high << 64) | *low);
    if (mask) {
        FOR_SELECTED(row, count, mask, sum += values[row])
    } else {
        for (size_t row = 0; row < count; row++) sum += values[row];
    }
    *high = (int64_t)(sum >> 64);
    *low = (uint64_t)sum;
}

double cmartlet_sum_f64(double sum, const double *values, size_t count, const uint64_t *mask) {
    if (mask) {
        FOR_SELECTED(row, count, mask, sum += values[row])
    } else {
        for (size_t row = 0; row < count; row++) sum += values[row];
    }
    return sum;
}

#define EXTREMA(name, type)                                                                                           \
    VECTORIZED void name(const type *values, size_t count, const uint64_t *mask, type *low, type *high) {             \
        type least = *low, greatest = *high;                                                                          \
        if (mask) {                                                                                                   \
            FOR_SELECTED(row, count, mask, {                                                                          \
                const type value = values[row];                                                                       \
                least = value < least ? value : least;                                                                \
                greatest = value > greatest ? value : greatest;                                                       \
            })                                                                                                        \
        } else {                                                                                                      \
            for (size_t row = 0; row < count; row++) {                                                                \
                least = values[row] < least ? values[row] : least;                                                    \
                greatest = values[row] > greatest ? values[row] : greatest;                                           \
            }                                                                                                         \
        }                                                                                                             \
        *low = least;                                                                                                 \
        *high = greatest;                                                                                             \
    }

EXTREMA(cmartlet_extrema_u8, uint8_t)
EXTREMA(cmartlet_extrema_u16, uint16_t)
EXTREMA(cmartlet_extrema_u32, uint32_t)
EXTREMA(cmartlet_extrema_i64, int64_t)
EXTREMA(cmartlet_extrema_f64, double)
