// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "tensor/encoding.h"
#include "tensor/tiles.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MATRICES = 2, ROWS = 131, COLUMNS = 138, COUNT = MATRICES * ROWS * COLUMNS };

static const int64_t shape[] = {MATRICES, ROWS, COLUMNS};

static void draw(float *values, float largest)
{
    struct random random;

    random_init(&random, 3);
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = (float)random_between(&random, -largest, largest);
    }
}

static unsigned char *encode(const tapml_encoding *encoding, const float *values)
{
    uint64_t bytes = 0;

    cr_assert_eq(encoding_bytes(encoding, TAPML_U8, shape, 3, &bytes), TAPML_OK);
    unsigned char *tensor = malloc(bytes);

    cr_assert_not_null(tensor);
    memset(tensor, 0xa5, bytes);
    cr_assert_eq(tiles_encode(encoding, values, shape, 3, tensor), TAPML_OK);
    return tensor;
}

#define FOR_EACH_TILES(t)                                                                          \
    const struct codec_tiles *t = NULL;                                                            \
    for (uint32_t index = 0; (t = codec_tiles_at(index)) != NULL; index++)

Test(tiles, are_found_by_their_ids)
{
    FOR_EACH_TILES(tiles)
    {
        cr_assert_eq(encoding_find(tiles->encoding->id), tiles->encoding);
        cr_assert(tiles_are_in(tiles->encoding));
        cr_assert_eq(tiles->encoding->block_values, 1);
    }
    cr_assert_null(encoding_find("tiles.e4m3.f32.1x33/1"));
    cr_assert_not(tiles_are_in(encoding_find(TAPML_ENCODING_Q8)));
    cr_assert_not(tiles_are_in(NULL));
}

// How far a value is from itself in an encoding, over the largest of its tile.
static double allowed(const struct codec_tiles *tiles)
{
    switch ((int)tiles->quants) {
    case CODEC_E4M3: // The scale has as few digits as a power of two.
        return tiles->scales == CODEC_E8M0 ? 1.0 / 8 : 1.0 / 15;
    case CODEC_E5M2:
        return tiles->scales == CODEC_E8M0 ? 1.0 / 4 : 1.0 / 7;
    case CODEC_E2M1:
        return 1.0 / 3;
    case CODEC_U4:
        return tiles->zeros == CODEC_ZEROS_MIDDLE ? 1.0 / 13 : 2.0 / 15;
    default:
        return 3.0 / 255;
    }
}

Test(tiles, hold_values_as_well_as_their_quants)
{
    float *values = malloc(COUNT * sizeof(*values)), *widened = malloc(COUNT * sizeof(*values));

    draw(values, 2);
    FOR_EACH_TILES(tiles)
    {
        unsigned char *tensor = encode(tiles->encoding, values);
        const struct tiles_spans spans = tiles_spans_of(tiles->encoding, tensor, shape, 3);

        tiles_widen(tiles->encoding, &spans, shape, 3, TAPML_F32, widened);
        for (size_t i = 0; i < COUNT; i++) {
            cr_assert_lt(fabs((double)widened[i] - (double)values[i]), 2 * allowed(tiles),
                         "%s: value %zu is %f, was %f", tiles->encoding->id, i, (double)widened[i],
                         (double)values[i]);
        }
        free(tensor);
    }
    free(values);
    free(widened);
}

Test(tiles, zeros_stay_zeros)
{
    float *values = calloc(COUNT, sizeof(*values));

    FOR_EACH_TILES(tiles)
    {
        unsigned char *tensor = encode(tiles->encoding, values);
        const struct tiles_spans spans = tiles_spans_of(tiles->encoding, tensor, shape, 3);

        values[0] = 1;
        tiles_widen(tiles->encoding, &spans, shape, 3, TAPML_F32, values);
        for (size_t i = 0; i < COUNT; i++) {
            cr_assert_eq(values[i], 0, "%s", tiles->encoding->id);
        }
        free(tensor);
    }
    free(values);
}

// Spans that lie anywhere are put one after another, with nothing undefined between them.
Test(tiles, are_gathered)
{
    float *values = malloc(COUNT * sizeof(*values));

    draw(values, 1);
    FOR_EACH_TILES(tiles)
    {
        const tapml_encoding *encoding = tiles->encoding;
        unsigned char *tensor = encode(encoding, values);
        struct tiles_spans spans = tiles_spans_of(encoding, tensor, shape, 3);
        uint64_t bytes = 0;
        unsigned char *copies[CODEC_TILES_SPANS_MAX] = {NULL};

        cr_assert_eq(encoding_bytes(encoding, TAPML_U8, shape, 3, &bytes), TAPML_OK);
        for (uint32_t i = 0; i < encoding->n_spans; i++) {
            const uint64_t size = tiles_span_bytes(encoding, shape, 3, i);

            cr_assert_eq(tiles_span_begin(encoding, shape, 3, i) % encoding->spans[i]->align, 0);
            copies[i] = malloc(size + 1);
            spans.at[i] = memcpy(copies[i] + 1, spans.at[i], size); // At an odd address.
        }
        unsigned char *gathered = malloc(bytes);

        memset(gathered, 0x5a, bytes);
        tiles_gather(encoding, &spans, shape, 3, gathered);
        cr_assert_eq(memcmp(gathered, tensor, bytes), 0, "%s", encoding->id);
        for (uint32_t i = 0; i < encoding->n_spans; i++) {
            free(copies[i]);
        }
        free(gathered);
        free(tensor);
    }
    free(values);
}

Test(tiles, are_as_many_as_a_matrix_has)
{
    const tapml_encoding *encoding = encoding_find("tiles.e4m3.f32.128x128/1");

    cr_assert_eq(tiles_span_bytes(encoding, shape, 3, 0), COUNT);
    cr_assert_eq(tiles_span_bytes(encoding, shape, 3, 1), MATRICES * 2 * 2 * sizeof(float));
    encoding = encoding_find("tiles.u4.f16.1x32.zeros/1");
    cr_assert_eq(tiles_span_bytes(encoding, shape, 3, 0), MATRICES * ROWS * 18 * 4);
    cr_assert_eq(tiles_span_bytes(encoding, shape, 3, 1), MATRICES * ROWS * 5 * 2);
    cr_assert_eq(tiles_span_bytes(encoding, shape, 3, 2), MATRICES * 17 * 5 * 4);
}

Test(tiles, are_widened_for_devices_that_do_not_take_them)
{
    const tapml_encoding *powers = encoding_find("tiles.e4m3.e8m0.1x32/1");
    const tapml_encoding *floats = encoding_find("tiles.e4m3.f32.row/1");

    cr_assert_eq(encoding_on_device(powers, TAPML_U8, ENCODING_TAKES_TILES).encoding, powers);
    cr_assert_eq(encoding_on_device(powers, TAPML_U8, ENCODING_TAKES_BLOCKS).dtype, TAPML_BF16);
    cr_assert_eq(encoding_on_device(floats, TAPML_U8, 0).dtype, TAPML_F32);
    cr_assert_null(encoding_on_device(floats, TAPML_U8, 0).encoding);
}

Test(tiles, must_fit_into_memory)
{
    static const int64_t large[] = {INT64_C(1) << 40, INT64_C(1) << 22};
    uint64_t bytes = 0;

    cr_assert_eq(encoding_bytes(encoding_find("tiles.e4m3.f32.row/1"), TAPML_U8, large, 2, &bytes),
                 TAPML_INVALID);
    cr_assert_eq(encoding_bytes(encoding_find("tiles.e4m3.f32.row/1"), TAPML_U8, NULL, 0, &bytes),
                 TAPML_INVALID);
}

Test(tiles, cannot_hold_what_is_not_finite)
{
    static const int64_t two[] = {1, 2};
    static const float values[] = {1, INFINITY};
    unsigned char tensor[64];

    cr_assert_eq(tiles_encode(encoding_find("tiles.e4m3.f32.row/1"), values, two, 2, tensor),
                 TAPML_INVALID);
}

// Rows that are cut out have the values that they had.
Test(tiles, are_sliced_where_a_tile_begins)
{
    static const int64_t whole[] = {ROWS, COLUMNS};
    float *values = malloc(COUNT * sizeof(*values)), *widened = malloc(COUNT * sizeof(*values));

    draw(values, 1);
    FOR_EACH_TILES(tiles)
    {
        const tapml_encoding *encoding = tiles->encoding;
        const int64_t some[] = {ROWS - 128, COLUMNS};
        unsigned char *tensor = encode(encoding, values), *cut = malloc(COUNT * sizeof(*values));

        cr_assert_eq(tiles_encode(encoding, values, whole, 2, tensor), TAPML_OK);
        struct tiles_spans spans = tiles_spans_of(encoding, tensor, whole, 2);

        tiles_widen(encoding, &spans, whole, 2, TAPML_F32, widened);
        cr_assert_eq(128 % tiles_rows(encoding), 0);
        cr_assert_eq(tiles_slice(encoding, tensor, whole, 128, ROWS - 128, cut), 1);
        spans = tiles_spans_of(encoding, cut, some, 2);
        float found[(ROWS - 128) * COLUMNS];

        tiles_widen(encoding, &spans, some, 2, TAPML_F32, found);
        cr_assert_eq(memcmp(found, widened + 128 * COLUMNS, sizeof(found)), 0, "%s", encoding->id);
        free(tensor);
        free(cut);
    }
    cr_assert_eq(
        tiles_slice(encoding_find("tiles.e4m3.f32.128x128/1"), values, whole, 1, 1, widened), 0);
    cr_expect_eq(tiles_rows(encoding_find("tiles.e4m3.f32.128x128/1")), 128);
    cr_expect_eq(tiles_rows(encoding_find("tiles.u4.f16.1x32.zeros/1")), 8);
    cr_expect_eq(tiles_rows(encoding_find("tiles.i8.f32.all/1")), 1);
    free(values);
    free(widened);
}
