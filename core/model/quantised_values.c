// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/quantised_values.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "model/checkpoint.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <math.h>
#include <string.h>

// Rows that are read together: words of transposed layouts lie side by side for several of them.
enum { BAND_ROWS = 32, WORD_BITS = 32, BYTE_VALUES = 256 };

struct widening {
    const struct quantised_weight *weight;
    float numbers[BYTE_VALUES]; // What a stored byte, or fewer bits, stand for.
    float *quants;              // Of a band.
    float *scales, *zeros;      // Of one row, a tile each.
    uint32_t dtype;
    void *values;
};

// -- Numbers -----------------------------------------------------------------------------------

// A float of `exponent_bits` and `mantissa_bits` behind its sign.
static float small_float(unsigned bits, unsigned exponent_bits, unsigned mantissa_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const unsigned mantissa = bits & ((1u << mantissa_bits) - 1);
    const unsigned exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
    const float sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1.0F : 1.0F;
    const unsigned whole = exponent > 0 ? mantissa + (1u << mantissa_bits) : mantissa;
    const int shift = (exponent > 0 ? (int)exponent : 1) - bias - (int)mantissa_bits;
    return sign * ldexpf((float)whole, shift);
}

static float f8_e4m3(unsigned bits)
{
    return (bits & 0x7f) == 0x7f ? NAN : small_float(bits, 4, 3); // It has no infinity.
}

static float f8_e5m2(unsigned bits)
{
    if ((bits & 0x7c) == 0x7c) {
        const float infinity = bits & 0x80 ? -INFINITY : INFINITY;
        return bits & 3 ? NAN : infinity;
    }
    return small_float(bits, 5, 2);
}

static float power_of_two(unsigned bits)
{
    return bits == 0xff ? NAN : ldexpf(1.0F, (int)bits - 127);
}

static float f4_e2m1(unsigned bits)
{
    return small_float(bits & 0xf, 2, 1);
}

static float i8(unsigned bits)
{
    return (float)(int8_t)bits;
}

static float unsigned_number(unsigned bits)
{
    return (float)bits;
}

// Reads element `index` of a tensor of scales, zero points or factors.
static float element(const struct checkpoint_tensor *tensor, uint64_t index)
{
    const unsigned char *data = tensor->data;
    double value = 0;
    if (tensor->stored && strcmp(tensor->stored, "F8_E4M3") == 0) {
        return f8_e4m3(data[index]);
    }
    if (tensor->stored && strcmp(tensor->stored, "I8") == 0) {
        return i8(data[index]);
    }
    if (tensor->tensor.dtype == TAPML_U8) {
        return power_of_two(data[index]);
    }
    convert_to_f64(tensor->tensor.dtype, data + index * dtype_bytes(tensor->tensor.dtype), 1,
                   &value);
    return (float)value;
}

static uint32_t word_at(const struct checkpoint_tensor *tensor, uint64_t index)
{
    uint32_t word = 0;
    memcpy(&word, (const unsigned char *)tensor->data + index * sizeof(word), sizeof(word));
    return word;
}

static void fill_numbers(struct widening *widening)
{
    const struct quantised_weight *weight = widening->weight;
    float (*number)(unsigned bits) = unsigned_number;
    const char *stored = weight->quants->stored;
    if (weight->scheme->layout->packing == QUANTISED_NIBBLES) {
        number = f4_e2m1;
    } else if (stored) {
        number =
            strcmp(stored, "F8_E4M3") == 0 ? f8_e4m3 : (strcmp(stored, "I8") == 0 ? i8 : f8_e5m2);
    }
    for (unsigned i = 0; i < BYTE_VALUES; ++i) {
        widening->numbers[i] = number(i);
    }
}

// -- Quants ------------------------------------------------------------------------------------

// Which value of a word holds value `index`.
static unsigned shift_of(const struct quantised_scheme *scheme, uint64_t index)
{
    const uint64_t in_word = WORD_BITS / scheme->bits;
    const unsigned place = (unsigned)(index % in_word);
    return scheme->bits * (scheme->layout->places ? scheme->layout->places[place] : place);
}

// A quant, or a zero point, in words that run along `index`.
static unsigned word_value(const struct quantised_scheme *scheme, uint32_t word, uint64_t index)
{
    return word >> shift_of(scheme, index) & ((1u << scheme->bits) - 1);
}

// Words that run along the columns of a weight whose rows lie one behind the other.
static void read_words(struct widening *widening, uint64_t row, float *out_quants)
{
    const struct quantised_weight *weight = widening->weight;
    const struct quantised_scheme *scheme = weight->scheme;
    const uint64_t in_word = WORD_BITS / scheme->bits;
    const uint64_t columns = (uint64_t)weight->columns;
    const uint64_t words = (columns + in_word - 1) / in_word;
    for (uint64_t i = 0; i < columns; ++i) {
        const uint32_t word = word_at(weight->quants, row * words + i / in_word);
        out_quants[i] = widening->numbers[word_value(scheme, word, i)];
    }
}

// Words of a transposed weight: along the columns, or along the rows.
static void
read_turned_words(struct widening *widening, uint64_t row, uint64_t count, float *out_quants)
{
    const struct quantised_weight *weight = widening->weight;
    const struct quantised_scheme *scheme = weight->scheme;
    const uint64_t in_word = WORD_BITS / scheme->bits;
    const uint64_t columns = (uint64_t)weight->columns;
    const uint64_t rows = (uint64_t)weight->rows;
    const int packs_rows = scheme->layout->packs_rows;
    for (uint64_t i = 0; i < columns; ++i) {
        for (uint64_t k = 0; k < count; ++k) {
            const uint64_t at = packs_rows ? i * (rows / in_word) + (row + k) / in_word
                                           : i / in_word * rows + row + k;
            const uint32_t word = word_at(weight->quants, at);
            out_quants[k * columns + i] =
                widening->numbers[word_value(scheme, word, packs_rows ? row + k : i)];
        }
    }
}

// The quants of `count` rows; `row` counts through all matrices.
static void read_quants(struct widening *widening, uint64_t row, uint64_t count)
{
    const struct quantised_weight *weight = widening->weight;
    const struct quantised_layout *layout = weight->scheme->layout;
    const uint64_t columns = (uint64_t)weight->columns;
    const unsigned char *bytes = weight->quants->data;
    if (layout->packing == QUANTISED_WORDS) {
        if (layout->is_transposed) {
            read_turned_words(widening, row, count, widening->quants);
            return;
        }
        for (uint64_t k = 0; k < count; ++k) {
            read_words(widening, row + k, widening->quants + k * columns);
        }
        return;
    }
    for (uint64_t i = 0; i < count * columns; ++i) {
        const uint64_t at = row * columns + i;
        widening->quants[i] = layout->packing == QUANTISED_BYTES
                                  ? widening->numbers[bytes[at]]
                                  : widening->numbers[bytes[at / 2] >> (at % 2 * 4) & 0xf];
    }
}

// -- Scales ------------------------------------------------------------------------------------

static float zero_at(const struct quantised_weight *weight, uint64_t row, uint64_t tile)
{
    const struct quantised_scheme *scheme = weight->scheme;
    const struct quantised_layout *layout = scheme->layout;
    const uint64_t across = (uint64_t)weight->tiles_across;
    const uint64_t down = row / (uint64_t)weight->tile_rows;
    if (layout->packing != QUANTISED_WORDS) {
        return weight->zeros ? element(weight->zeros, down * across + tile) : 0;
    }
    if (!weight->zeros) {
        return (float)(1u << (scheme->bits - 1));
    }
    const uint64_t in_word = WORD_BITS / scheme->bits;
    const uint64_t words = ((uint64_t)weight->rows + in_word - 1) / in_word;
    const uint64_t at =
        layout->zeros_down ? row / in_word * across + tile : tile * words + row / in_word;
    return (float)(word_value(scheme, word_at(weight->zeros, at), row) +
                   (uint64_t)scheme->zero_added);
}

// Scales and zero points of the tiles that a row of a matrix goes through.
static void read_scales(struct widening *widening, uint64_t matrix, uint64_t row)
{
    const struct quantised_weight *weight = widening->weight;
    const struct quantised_layout *layout = weight->scheme->layout;
    const uint64_t across = (uint64_t)weight->tiles_across;
    const uint64_t down = (uint64_t)weight->tiles_down;
    const uint64_t tile_row = row / (uint64_t)weight->tile_rows;
    const float factor = weight->factor ? element(weight->factor, 0) : 1.0F;
    for (uint64_t i = 0; i < across; ++i) {
        const uint64_t at =
            layout->is_transposed ? i * down + tile_row : (matrix * down + tile_row) * across + i;
        const float scale = element(weight->scales, at);
        widening->scales[i] = layout->factor_divides ? scale / factor : scale * factor;
        widening->zeros[i] = zero_at(weight, row, i);
    }
}

// -- Values ------------------------------------------------------------------------------------

static uint64_t tile_of(const struct quantised_weight *weight, uint64_t column)
{
    if (weight->groups) {
        return word_at(weight->groups, column);
    }
    return column / (uint64_t)weight->tile_columns;
}

static int put(const struct widening *widening, uint64_t at, float value)
{
    uint32_t bits = 0;
    if (widening->dtype == TAPML_F32) {
        ((float *)widening->values)[at] = value;
        return 1;
    }
    memcpy(&bits, &value, sizeof(bits));
    ((uint16_t *)widening->values)[at] = (uint16_t)(bits >> 16);
    return (bits & 0xffff) == 0;
}

// Returns whether every value has a form in the type that is written.
static int
write_row(const struct widening *widening, uint64_t matrix, uint64_t row, const float *quants)
{
    const struct quantised_weight *weight = widening->weight;
    const uint64_t rows = (uint64_t)weight->rows;
    const uint64_t columns = (uint64_t)weight->columns;
    const int turns = weight->scheme->layout->becomes_transposed;
    int fits = 1;
    for (uint64_t i = 0; i < columns; ++i) {
        const uint64_t tile = tile_of(weight, i);
        const float value = widening->scales[tile] * (quants[i] - widening->zeros[tile]);
        const uint64_t at = turns ? i * rows + row : row * columns + i;
        fits &= put(widening, matrix * rows * columns + at, value);
    }
    return fits;
}

static tapml_status write_all(struct widening *widening)
{
    const struct quantised_weight *weight = widening->weight;
    const uint64_t rows = (uint64_t)weight->rows;
    for (uint64_t matrix = 0; matrix < (uint64_t)weight->matrices; ++matrix) {
        for (uint64_t begin = 0; begin < rows; begin += BAND_ROWS) {
            const uint64_t count = rows - begin < BAND_ROWS ? rows - begin : BAND_ROWS;
            read_quants(widening, matrix * rows + begin, count);
            for (uint64_t k = 0; k < count; ++k) {
                read_scales(widening, matrix, begin + k);
                if (!write_row(widening, matrix, begin + k,
                               widening->quants + k * (uint64_t)weight->columns)) {
                    return TAPML_UNIMPLEMENTED;
                }
            }
        }
    }
    return TAPML_OK;
}

tapml_status
quantised_values_write(const struct quantised_weight *weight, uint32_t dtype, void *out_values)
{
    ASSERT(dtype == TAPML_F32 || dtype == TAPML_BF16);
    struct widening widening = {.weight = weight, .dtype = dtype, .values = out_values};
    fill_numbers(&widening);
    const size_t band = weight->rows < BAND_ROWS ? (size_t)weight->rows : BAND_ROWS;
    widening.quants = alloc_array((size_t)weight->columns, band * sizeof(*widening.quants));
    widening.scales = alloc_array((size_t)weight->tiles_across, sizeof(*widening.scales));
    widening.zeros = alloc_array((size_t)weight->tiles_across, sizeof(*widening.zeros));
    tapml_status status = TAPML_NO_MEMORY;
    if (widening.quants && widening.scales && widening.zeros) {
        status = write_all(&widening);
    }
    alloc_free(widening.quants);
    alloc_free(widening.scales);
    alloc_free(widening.zeros);
    return status == TAPML_NO_MEMORY ? status_no_memory() : status;
}
