// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/quantised_tiles.h"

#include "base/assert.h"
#include "model/checkpoint.h"
#include "tensor/dtype.h"

#include <string.h>

enum { WORD_BITS = 32 };

// What an encoding must be.
struct wanted {
    enum codec_number quants, scales;
    enum codec_zeros zeros;
    enum codec_factor factor;
};

static enum codec_number quants_of(const struct quantised_weight *weight)
{
    const char *stored = weight->quants->stored;
    if (weight->scheme->layout->packing == QUANTISED_NIBBLES) {
        return CODEC_E2M1;
    }
    if (weight->scheme->layout->packing == QUANTISED_WORDS) {
        return weight->scheme->bits == 4 ? CODEC_U4 : CODEC_U8;
    }
    return strcmp(stored, "F8_E4M3") == 0 ? CODEC_E4M3
                                          : (strcmp(stored, "I8") == 0 ? CODEC_I8 : CODEC_E5M2);
}

static enum codec_number scales_of(const struct quantised_weight *weight)
{
    const struct checkpoint_tensor *scales = weight->scales;
    if (scales->stored && strcmp(scales->stored, "F8_E4M3") == 0) {
        return CODEC_E4M3;
    }
    if (scales->tensor.dtype == TAPML_U8) {
        return CODEC_E8M0;
    }
    return scales->tensor.dtype == TAPML_F32
               ? CODEC_F32
               : (scales->tensor.dtype == TAPML_BF16 ? CODEC_BF16 : CODEC_F16);
}

static enum codec_zeros zeros_of(const struct quantised_weight *weight)
{
    if (weight->scheme->layout->packing != QUANTISED_WORDS) {
        return weight->zeros ? CODEC_ZEROS_I8 : CODEC_ZEROS_NONE;
    }
    if (!weight->zeros) {
        return CODEC_ZEROS_MIDDLE;
    }
    return weight->scheme->zero_added == 1 ? CODEC_ZEROS_LESS : CODEC_ZEROS_WORDS;
}

// Whether tiles of an extent divide an axis as the weight's do: a larger one is all of it.
static int divides(uint32_t tile, int64_t own, int64_t extent)
{
    return own == extent ? tile >= (uint64_t)extent : tile == (uint64_t)own;
}

static int fits(const struct codec_tiles *tiles,
                const struct wanted *wanted,
                const struct quantised_weight *weight)
{
    const tapml_span *scales = tiles->encoding->spans[1];
    return tiles->quants == wanted->quants && tiles->scales == wanted->scales &&
           tiles->zeros == wanted->zeros && tiles->factor == wanted->factor &&
           divides(scales->tile_rows, weight->tile_rows, weight->rows) &&
           divides(scales->tile_values, weight->tile_columns, weight->columns);
}

// Whether groups are neighbouring columns, as they are where no tensor says it.
static int has_neighbours(const struct quantised_weight *weight)
{
    for (int64_t i = 0; weight->groups && i < weight->columns; ++i) {
        int32_t group = 0;
        memcpy(&group, (const char *)weight->groups->data + (size_t)i * sizeof(group),
               sizeof(group));
        if (group != i / weight->tile_columns) {
            return 0;
        }
    }
    return 1;
}

// Whether every value has a form in the dtype of the encoding.
static int has_values(const struct codec_tiles *tiles, const struct quantised_weight *weight)
{
    const unsigned char *powers = weight->scales->data;
    const uint32_t least = codec_tiles_least_power(tiles);
    for (uint64_t i = 0; tiles->scales == CODEC_E8M0 && i < weight->scales->bytes; ++i) {
        if (powers[i] < least) {
            return 0;
        }
    }
    return 1;
}

const tapml_encoding *quantised_tiles_find(const struct quantised_weight *weight, int *out_lies)
{
    const struct quantised_layout *layout = weight->scheme->layout;
    const struct codec_tiles *tiles = NULL;
    const struct wanted wanted = {
        .quants = quants_of(weight),
        .scales = scales_of(weight),
        .zeros = zeros_of(weight),
        .factor = !weight->factor          ? CODEC_FACTOR_NONE
                  : layout->factor_divides ? CODEC_FACTOR_DIVIDES
                                           : CODEC_FACTOR_TIMES,
    };
    if (!has_neighbours(weight)) {
        return NULL;
    }
    for (uint32_t i = 0; (tiles = codec_tiles_at(i)) != NULL; ++i) {
        if (fits(tiles, &wanted, weight)) {
            *out_lies = !layout->is_transposed;
            return has_values(tiles, weight) ? tiles->encoding : NULL;
        }
    }
    return NULL;
}

struct tiles_spans quantised_tiles_spans(const struct quantised_weight *weight,
                                         const tapml_encoding *encoding,
                                         int64_t matrix)
{
    const struct checkpoint_tensor *const parts[] = {weight->quants, weight->scales, weight->zeros,
                                                     weight->factor};
    struct tiles_spans spans = {{NULL}};
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
        if (parts[i]) {
            const uint64_t bytes = codec_tiles_bytes(encoding->spans[count], (uint64_t)weight->rows,
                                                     (uint64_t)weight->columns);
            spans.at[count++] = (const unsigned char *)parts[i]->data + (uint64_t)matrix * bytes;
        }
    }
    return spans;
}

// -- Another order -----------------------------------------------------------------------------

static uint32_t word_at(const struct checkpoint_tensor *tensor, uint64_t index)
{
    uint32_t word = 0;
    memcpy(&word, (const unsigned char *)tensor->data + index * sizeof(word), sizeof(word));
    return word;
}

static void put_word(unsigned char *target, uint64_t index, uint32_t word)
{
    memcpy(target + index * sizeof(word), &word, sizeof(word));
}

// The number at `index` of words that run along it.
static uint32_t number_in(const struct quantised_scheme *scheme, uint32_t word, uint64_t index)
{
    const uint64_t place = index % (WORD_BITS / scheme->bits);
    const unsigned shift =
        scheme->bits * (scheme->layout->places ? scheme->layout->places[place] : (unsigned)place);
    return word >> shift & ((1u << scheme->bits) - 1);
}

// A word of a row: its values from column `first` on.
static uint32_t
word_of_row(const struct quantised_weight *weight, uint64_t row, uint64_t first, uint64_t in_word)
{
    const struct quantised_scheme *scheme = weight->scheme;
    const uint64_t rows = (uint64_t)weight->rows;
    uint32_t made = 0;
    if (!scheme->layout->packs_rows) { // Already one.
        return word_at(weight->quants, first / in_word * rows + row);
    }
    for (uint64_t i = 0; i < in_word && first + i < (uint64_t)weight->columns; ++i) {
        const uint64_t at = (first + i) * (rows / in_word) + row / in_word;
        made |= number_in(scheme, word_at(weight->quants, at), row) << i * scheme->bits;
    }
    return made;
}

static void pack_quants(const struct quantised_weight *weight, unsigned char *target)
{
    const uint64_t in_word = WORD_BITS / weight->scheme->bits;
    uint64_t at = 0;
    for (uint64_t row = 0; row < (uint64_t)weight->rows; ++row) {
        for (uint64_t first = 0; first < (uint64_t)weight->columns; first += in_word) {
            put_word(target, at++, word_of_row(weight, row, first, in_word));
        }
    }
}

static void pack_scales(const struct quantised_weight *weight, unsigned char *target)
{
    const uint64_t size = dtype_bytes(weight->scales->tensor.dtype);
    const uint64_t down = (uint64_t)weight->tiles_down, across = (uint64_t)weight->tiles_across;
    const unsigned char *scales = weight->scales->data;
    for (uint64_t row = 0; row < down; ++row) {
        for (uint64_t i = 0; i < across; ++i) {
            memcpy(target + (row * across + i) * size, scales + (i * down + row) * size, size);
        }
    }
}

// Words of zero points run along the rows before and after.
static void pack_zeros(const struct quantised_weight *weight, unsigned char *target)
{
    const struct quantised_scheme *scheme = weight->scheme;
    const uint64_t in_word = WORD_BITS / scheme->bits, rows = (uint64_t)weight->rows;
    const uint64_t words = (rows + in_word - 1) / in_word;
    const uint64_t across = (uint64_t)weight->tiles_across;
    for (uint64_t row = 0; row < words; ++row) {
        for (uint64_t i = 0; i < across; ++i) {
            const uint32_t word = word_at(weight->zeros, i * words + row);
            uint32_t made = 0;
            for (uint64_t k = 0; k < in_word; ++k) {
                made |= number_in(scheme, word, k) << k * scheme->bits;
            }
            put_word(target, row * across + i, made);
        }
    }
}

void quantised_tiles_pack(const struct quantised_weight *weight,
                          const tapml_encoding *encoding,
                          void *out_target)
{
    const int64_t shape[] = {weight->rows, weight->columns};
    unsigned char *target = out_target;
    ASSERT(weight->scheme->layout->is_transposed && weight->zeros && encoding->n_spans == 3);
    pack_quants(weight, target + tiles_span_begin(encoding, shape, 2, 0));
    pack_scales(weight, target + tiles_span_begin(encoding, shape, 2, 1));
    pack_zeros(weight, target + tiles_span_begin(encoding, shape, 2, 2));
}
