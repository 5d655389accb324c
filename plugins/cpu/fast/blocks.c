// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "fast/blocks.h"

#include "fast/digits.h"
#include "fast/tiles.h"
#include "fast/values.h"
#include "reference/value.h"

// The forms, each known by name where the loops are compiled.
#define FORM(name, ...) static const struct units_form form_##name = __VA_ARGS__;
UNITS_FORMS(FORM)
#undef FORM

enum {
    CHAINS = 2,     // Of vectors by turns that make up a sum.
    ROWS_AHEAD = 4, // That are widened together (fast/product.c).
};

struct blocks LEVEL(blocks_find)(const tapml_tensor *tensor, size_t row)
{
#define ID(name, id) id,
    static const char *const ids[] = {BLOCKS_LIST(ID)};
#undef ID
    const tapml_encoding *encoding = tensor->encoding;
    const size_t width = value_width(tensor);
    struct blocks blocks = {.width = width};

    while (blocks.kind < BLOCKS_TILES && strcmp(ids[blocks.kind], encoding->id) != 0) {
        blocks.kind++;
    }
    if (blocks.kind == BLOCKS_TILES) {
        blocks.tiles = codec_tiles_find(encoding->id);
        blocks.matrix = value_matrix(tensor);
        blocks.first_row = row;
        return blocks;
    }
    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        blocks.spans[i] = value_span(tensor, i, row * (width / encoding->block_values));
    }
    return blocks;
}

// The units of row `row` from unit `unit` on, the first of a block.
VECTOR_INLINE struct units
units_of(const struct units_form *form, const struct blocks *blocks, size_t row, size_t unit)
{
    const size_t block_units = form->is_large ? UNITS_OF_LARGE : 1;
    const size_t index = (row * (blocks->width / UNITS_VALUES) + unit) / block_units;
    const unsigned char *const *span = blocks->spans;
    struct units first;

    if (form->is_piece) {
        first = units_of_piece(form, *span);
    } else {
        first.quants = *span++;
        first.highs = form->bits == 5 || form->bits == 6 ? *span++ : first.quants;
        first.factors = form->is_large ? *span++ : first.quants;
        first.scales = *span++;
        first.mins = form->has_mins && !form->is_large ? *span : first.scales;
    }
    return units_at(form, &first, index);
}

// The quants of unit `u` of a section.
VECTOR_INLINE struct unit_quants
quants_of(const struct units_form *form, const struct units *units, size_t u)
{
    const size_t block_units = form->is_large ? UNITS_OF_LARGE : 1;
    const struct units block = units_at(form, units, u / block_units);

    return units_quants(form, &block, u % block_units);
}

// -- Widening ----------------------------------------------------------------------------------

VECTOR_INLINE void widen(const struct units_form *form,
                         const struct blocks *blocks,
                         size_t row,
                         size_t begin,
                         size_t count,
                         float *values)
{
    const size_t all = count / UNITS_VALUES;

    for (size_t unit = 0; unit < all; unit += UNITS_SECTION) {
        const size_t rest = all - unit, some = rest < UNITS_SECTION ? rest : UNITS_SECTION;
        const struct units units = units_of(form, blocks, row, begin / UNITS_VALUES + unit);
        const struct units later =
            units_of(form, blocks, row + ROWS_AHEAD, begin / UNITS_VALUES + unit);
        struct units_scales scales;

        units_fetch(form, &units, later.quants - units.quants);
        units_open(form, &units, some, &scales);
        for (size_t u = 0; u < some; u++, values += UNITS_VALUES) {
            const struct unit_quants quants = quants_of(form, &units, u);

            for (size_t v = 0; v < UNITS_VECTORS; v++) {
                vector_store(values + v * VECTOR_LANES, units_values(form, &scales, &quants, u, v));
            }
        }
    }
}

void LEVEL(blocks_widen)(
    const struct blocks *blocks, size_t row, size_t begin, size_t count, float *values)
{
    switch (blocks->kind) {
#define WIDEN(name, ...)                                                                           \
    case BLOCKS_##name:                                                                            \
        widen(&form_##name, blocks, row, begin, count, values);                                    \
        break;
        UNITS_FORMS(WIDEN)
#undef WIDEN
    case BLOCKS_TILES:
        LEVEL(tiles_widen)
        (blocks->tiles, &blocks->matrix, blocks->first_row + row, begin, count, values);
        break;
    }
}

// -- One row of x ------------------------------------------------------------------------------

// Adds the products of `count` units, at most UNITS_SECTION, with values of x.
VECTOR_INLINE void multiply_section(const struct units_form *form,
                                    const struct units *units,
                                    const float *x,
                                    size_t count,
                                    vector *sums)
{
    struct units_scales scales;

    units_open(form, units, count, &scales);
    for (size_t u = 0; u < count; u++, x += UNITS_VALUES) {
        const struct unit_quants quants = quants_of(form, units, u);

        for (size_t v = 0; v < UNITS_VECTORS; v++) {
            sums[v % CHAINS] += vector_load(TAPML_F32, x + v * VECTOR_LANES) *
                                units_values(form, &scales, &quants, u, v);
        }
    }
}

// The product of a row of x and a row of weights, whose units are widened in registers. The rest of
// a row is often half a section: rows of whole large blocks.
VECTOR_INLINE float
multiply_row(const struct units_form *form, const struct units *row, const float *x, size_t count)
{
    const size_t section_blocks = UNITS_SECTION / (form->is_large ? UNITS_OF_LARGE : 1);
    struct units units = *row;
    vector sums[CHAINS] = {{0}};

    for (; count >= UNITS_SECTION; count -= UNITS_SECTION) {
        units_fetch(form, &units, VECTOR_AHEAD_BYTES);
        multiply_section(form, &units, x, UNITS_SECTION, sums);
        units = units_at(form, &units, section_blocks);
        x += UNITS_SECTION * UNITS_VALUES;
    }
    if (count == UNITS_SECTION / 2) {
        multiply_section(form, &units, x, UNITS_SECTION / 2, sums);
    } else if (count > 0) {
        multiply_section(form, &units, x, count, sums);
    }
    return vector_sum(sums[0] + sums[1]);
}

VECTOR_INLINE void multiply_floats(const struct units_form *form,
                                   const struct blocks *blocks,
                                   const float *x,
                                   size_t row_count,
                                   float *y)
{
    for (size_t row = 0; row < row_count; row++) {
        const struct units units = units_of(form, blocks, row, 0);

        y[row] = multiply_row(form, &units, x, blocks->width / UNITS_VALUES);
    }
}

#if defined(__AVX512VNNI__)
// False where x is left to floats, which know infinity.
VECTOR_INLINE bool multiply_digits(const struct units_form *form,
                                   const struct blocks *blocks,
                                   const float *x,
                                   size_t row_count,
                                   float *y)
{
    struct digits digits;

    if (!digits_take(form) || blocks->width > DIGITS_TERM_MAX ||
        !digits_split(digits_order_of(form), digits_middle_of(form), x, blocks->width, &digits)) {
        return false;
    }
    for (size_t row = 0; row < row_count; row++) {
        const struct units units = units_of(form, blocks, row, 0);

        y[row] = digits_product(form, &digits, &units, blocks->width / UNITS_VALUES);
    }
    return true;
}
#else
VECTOR_INLINE bool multiply_digits(const struct units_form *form,
                                   const struct blocks *blocks,
                                   const float *x,
                                   size_t row_count,
                                   float *y)
{
    return false;
}
#endif

// Each out of line: what one needs of the stack and of registers is its own.
#define MULTIPLY(name, ...)                                                                        \
    static __attribute__((noinline)) void multiply_##name(                                         \
        const struct blocks *blocks, const float *x, size_t row_count, float *y)                   \
    {                                                                                              \
        if (!multiply_digits(&form_##name, blocks, x, row_count, y)) {                             \
            multiply_floats(&form_##name, blocks, x, row_count, y);                                \
        }                                                                                          \
    }
UNITS_FORMS(MULTIPLY)
#undef MULTIPLY

void LEVEL(blocks_multiply)(const struct blocks *blocks, const float *x, size_t row_count, float *y)
{
    switch (blocks->kind) {
#define MULTIPLY(name, ...)                                                                        \
    case BLOCKS_##name:                                                                            \
        multiply_##name(blocks, x, row_count, y);                                                  \
        break;
        UNITS_FORMS(MULTIPLY)
#undef MULTIPLY
    case BLOCKS_TILES:
        LEVEL(tiles_multiply)
        (blocks->tiles, &blocks->matrix, blocks->first_row, x, row_count, y);
        break;
    }
}
