// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Weights as tiles against quantised_values, bit for bit.
#include "base/random.h"
#include "model/quantised_tiles.h"
#include "model/quantised_values.h"
#include "quantised_tensor.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };

// A weight whose tensors have random bytes.
struct sample {
    struct quantised_scheme scheme;
    struct checkpoint_tensor quants, scales, zeros, factor, groups;
    int64_t shapes[5][2];
    struct quantised_weight weight;
};

static unsigned char room[5][ROOM];

static void fill(unsigned part, int64_t rows, int64_t columns, uint32_t dtype, const char *stored)
{
    struct random random;
    const size_t bytes = (size_t)(rows * columns) * TAPML_DT_BYTES(dtype);
    cr_assert_leq(bytes, ROOM);
    random_init(&random, part + 1);
    for (size_t i = 0; i < bytes; ++i) {
        room[part][i] = (unsigned char)random_below(&random, 256);
    }
    // Powers of which bf16 has every product.
    for (size_t i = 0; part == 1 && dtype == TAPML_U8 && !stored && i < bytes; ++i) {
        room[part][i] = (unsigned char)(10 + room[part][i] % 246);
    }
}

static struct checkpoint_tensor
part_of(struct sample *sample, unsigned part, uint32_t dtype, const char *stored)
{
    fill(part, sample->shapes[part][0], sample->shapes[part][1], dtype, stored);
    return quantised_tensor("m", dtype, stored, sample->shapes[part], room[part]);
}

static int64_t parts_of(int64_t extent, int64_t tile)
{
    return (extent + tile - 1) / tile;
}

// What a published weight is.
struct kind {
    enum quantised_layout_id layout;
    uint32_t bits;
    int64_t tile_rows, tile_columns; // 0 is all.
    const char *quants;              // Stored, or NULL.
    uint32_t scales;
    const char *scales_stored;
    int has_zeros, has_factor, zero_added;
    const char *id;
    int lies;
};

static const struct kind kinds[] = {
    {QUANTISED_F8_INVERSE, 0, 128, 128, "F8_E4M3", TAPML_F32, NULL, 0, 0, 0,
     "tiles.e4m3.f32.128x128/1", 1},
    {QUANTISED_F8_INVERSE, 0, 128, 128, "F8_E4M3", TAPML_BF16, NULL, 0, 0, 0,
     "tiles.e4m3.bf16.128x128/1", 1},
    {QUANTISED_F8_INVERSE, 0, 0, 0, "F8_E5M2", TAPML_F32, NULL, 0, 0, 0, "tiles.e5m2.f32.all/1", 1},
    {QUANTISED_F8_INVERSE, 0, 1, 32, "F8_E4M3", TAPML_U8, NULL, 0, 0, 0, "tiles.e4m3.e8m0.1x32/1",
     1},
    {QUANTISED_F8_INVERSE, 0, 1, 32, "F8_E5M2", TAPML_U8, NULL, 0, 0, 0, "tiles.e5m2.e8m0.1x32/1",
     1},
    {QUANTISED_F8, 0, 1, 0, "F8_E4M3", TAPML_F16, NULL, 0, 0, 0, "tiles.e4m3.f16.row/1", 1},
    {QUANTISED_I8, 0, 1, 64, "I8", TAPML_BF16, NULL, 1, 0, 0, "tiles.i8.bf16.1x64.zeros/1", 1},
    {QUANTISED_I8, 0, 0, 0, "I8", TAPML_F32, NULL, 0, 0, 0, "tiles.i8.f32.all/1", 1},
    {QUANTISED_PACKED, 4, 1, 32, NULL, TAPML_F16, NULL, 1, 0, 0, "tiles.u4.f16.1x32.zeros/1", 1},
    {QUANTISED_PACKED, 8, 1, 0, NULL, TAPML_BF16, NULL, 1, 0, 0, "tiles.u8.bf16.row.zeros/1", 1},
    {QUANTISED_PACKED, 4, 1, 128, NULL, TAPML_F32, NULL, 0, 0, 0, "tiles.u4.f32.1x128/1", 1},
    {QUANTISED_F4_PACKED, 0, 1, 32, NULL, TAPML_U8, NULL, 0, 0, 0, "tiles.e2m1.e8m0.1x32/1", 1},
    {QUANTISED_F4_GLOBAL, 0, 1, 16, NULL, TAPML_U8, "F8_E4M3", 0, 1, 0,
     "tiles.e2m1.e4m3.1x16.divides/1", 1},
    {QUANTISED_F4_SCALE_2, 0, 1, 16, NULL, TAPML_U8, "F8_E4M3", 0, 1, 0,
     "tiles.e2m1.e4m3.1x16.times/1", 1},
    {QUANTISED_GPTQ, 4, 1, 32, NULL, TAPML_F16, NULL, 1, 0, 1, "tiles.u4.f16.1x32.zeros1/1", 0},
    {QUANTISED_GPTQ, 8, 1, 0, NULL, TAPML_F16, NULL, 1, 0, 0, "tiles.u8.f16.row.zeros/1", 0},
    {QUANTISED_AWQ, 4, 1, 64, NULL, TAPML_F16, NULL, 1, 0, 0, "tiles.u4.f16.1x64.zeros/1", 0},
};

// A weight of 136 rows and 200 columns: the last tiles are partial.
static void make(const struct kind *kind, struct sample *out_sample)
{
    enum { ROWS = 136, COLUMNS = 200 };
    struct sample *sample = out_sample;
    const struct quantised_layout *layout = quantised_layout_get(kind->layout);
    const int64_t high = kind->tile_rows > 0 && kind->tile_rows < ROWS ? kind->tile_rows : ROWS;
    const int64_t wide =
        kind->tile_columns > 0 && kind->tile_columns < COLUMNS ? kind->tile_columns : COLUMNS;
    const int64_t down = parts_of(ROWS, high), across = parts_of(COLUMNS, wide);
    const int64_t in_word = kind->bits > 0 ? 32 / kind->bits : 1;
    const int is_word = layout->packing == QUANTISED_WORDS;
    const uint32_t words = is_word ? TAPML_I32 : TAPML_U8;
    // Bytes alone count, and which they are follows from the layout.
    *sample = (struct sample){
        .scheme = {.layout = layout,
                   .bits = kind->bits,
                   .tile_rows = kind->tile_rows,
                   .tile_columns = kind->tile_columns,
                   .zero_added = kind->zero_added},
        .shapes = {{ROWS, layout->packing == QUANTISED_NIBBLES ? COLUMNS / 2
                          : is_word                            ? parts_of(COLUMNS, in_word)
                                                               : COLUMNS},
                   {down, across},
                   {is_word ? parts_of(ROWS, in_word) : down, across},
                   {1, 1},
                   {1, COLUMNS}},
    };
    sample->quants = part_of(sample, 0, words, kind->quants);
    sample->scales = part_of(sample, 1, kind->scales, kind->scales_stored);
    sample->zeros = part_of(sample, 2, words, is_word ? NULL : "I8");
    sample->factor = part_of(sample, 3, TAPML_F32, NULL);
    sample->weight = (struct quantised_weight){
        .scheme = &sample->scheme,
        .quants = &sample->quants,
        .scales = &sample->scales,
        .zeros = kind->has_zeros ? &sample->zeros : NULL,
        .factor = kind->has_factor ? &sample->factor : NULL,
        .matrices = 1,
        .rows = ROWS,
        .columns = COLUMNS,
        .tile_rows = high,
        .tile_columns = wide,
        .tiles_down = down,
        .tiles_across = across,
    };
}

static struct tiles_spans spans_of(const struct quantised_weight *weight,
                                   const tapml_encoding *encoding,
                                   int lies,
                                   void *copy)
{
    const int64_t shape[] = {weight->rows, weight->columns};
    if (lies) {
        return quantised_tiles_spans(weight, encoding, 0);
    }
    quantised_tiles_pack(weight, encoding, copy);
    return tiles_spans_of(encoding, copy, shape, 2);
}

static int is_same(const float *a, const float *b)
{
    return memcmp(a, b, sizeof(*a)) == 0 || (isnan(*a) && isnan(*b));
}

static void check(const struct kind *kind)
{
    struct sample sample;
    int lies = -1;
    make(kind, &sample);
    const tapml_encoding *encoding = quantised_tiles_find(&sample.weight, &lies);
    cr_assert_not_null(encoding, "%s", kind->id);
    cr_assert_str_eq(encoding->id, kind->id);
    cr_assert_eq(lies, kind->lies, "%s", kind->id);

    const int64_t shape[] = {sample.weight.rows, sample.weight.columns};
    const size_t count = (size_t)(shape[0] * shape[1]);
    float *expected = calloc(count, sizeof(*expected)), *found = calloc(count, sizeof(*found));
    uint16_t *halves = calloc(count, sizeof(*halves)), *words = calloc(count, sizeof(*words));
    unsigned char *copy = calloc(count, 8);
    cr_assert(expected && found && halves && words && copy);
    const struct tiles_spans spans = spans_of(&sample.weight, encoding, lies, copy);
    cr_assert_eq(quantised_values_write(&sample.weight, TAPML_F32, expected), TAPML_OK);
    tiles_widen(encoding, &spans, shape, 2, TAPML_F32, found);
    for (size_t i = 0; i < count; ++i) {
        cr_assert(is_same(&found[i], &expected[i]), "%s: value %zu is %a, expected %a", kind->id, i,
                  (double)found[i], (double)expected[i]);
    }
    if (tiles_dtype(encoding) == TAPML_BF16) {
        cr_assert_eq(quantised_values_write(&sample.weight, TAPML_BF16, halves), TAPML_OK);
        tiles_widen(encoding, &spans, shape, 2, TAPML_BF16, words);
        for (size_t i = 0; i < count; ++i) {
            cr_assert(words[i] == halves[i] || isnan(expected[i]), "%s: %zu", kind->id, i);
        }
    }
    free(expected);
    free(found);
    free(halves);
    free(words);
    free(copy);
}

Test(quantised_tiles, have_the_values_of_every_method)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        check(&kinds[i]);
    }
}

Test(quantised_tiles, groups_must_be_neighbours)
{
    struct sample sample;
    int32_t groups[200];
    int lies = 0;
    make(&kinds[14], &sample);
    for (int32_t i = 0; i < 200; ++i) {
        groups[i] = i / 32;
    }
    const int64_t shape[] = {1, 200};
    sample.groups = quantised_tensor("m", TAPML_I32, NULL, shape, groups);
    sample.weight.groups = &sample.groups;
    cr_assert_not_null(quantised_tiles_find(&sample.weight, &lies));
    groups[0] = 1;
    cr_assert_null(quantised_tiles_find(&sample.weight, &lies));
}

Test(quantised_tiles, other_tiles_have_no_encoding)
{
    struct sample sample;
    int lies = 0;
    make(&kinds[0], &sample);
    sample.weight.tile_rows = 40;
    cr_assert_null(quantised_tiles_find(&sample.weight, &lies));
}

Test(quantised_tiles, powers_of_which_bf16_has_not_all_products_have_none)
{
    struct sample sample;
    int lies = 0;
    make(&kinds[3], &sample);
    room[1][5] = 3;
    cr_assert_not_null(quantised_tiles_find(&sample.weight, &lies));
    room[1][5] = 2;
    cr_assert_null(quantised_tiles_find(&sample.weight, &lies));
    make(&kinds[4], &sample);
    room[1][5] = 9;
    cr_assert_null(quantised_tiles_find(&sample.weight, &lies));
}
