// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tensor/convert.h"
#include "tensor/encoding.h"
#include "verify/derive_values.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { COUNT = 256, BLOCK = 32, WIDTH = 64 };

// Groups are of so many rows and values of a row; 0 for none.
static void fill_groups(enum derive_values values, uint64_t rows, uint64_t each, float *out_values)
{
    struct random random;
    static const double criticals[] = {-9, 9};
    const struct derive_drawing drawing = {.random = &random,
                                           .values = values,
                                           .width = WIDTH,
                                           .group_rows = rows,
                                           .group_values = each,
                                           .range = 2,
                                           .criticals = criticals,
                                           .critical_count = 2};

    random_init(&random, 1);
    derive_values_fill(&drawing, TAPML_F32, COUNT, out_values);
}

static void fill(enum derive_values values, float *out_values)
{
    fill_groups(values, 0, 0, out_values);
}

// Half of the values between two quants of a block whose scale is 1, half between two f16.
Test(derive_values, ties)
{
    float values[COUNT];

    fill(DERIVE_VALUES_TIES, values);
    for (int i = 0; i < COUNT; i++) {
        const float value = fabsf(values[i]), down = floorf(value), up = ceilf(value);

        if (i / BLOCK % 2 == 0) {
            cr_expect(i % BLOCK == 0 ? value == 127 : value < 127 && value - down == 0.5f, "%g",
                      (double)value);
            continue;
        }
        cr_expect_eq(value - down, 0.5f);
        cr_expect_eq(convert_f16_to_f32(convert_f32_to_f16(down)), down);
        cr_expect_eq(convert_f16_to_f32(convert_f32_to_f16(up)), up);
        cr_expect_neq(convert_f16_to_f32(convert_f32_to_f16(value)), value);
    }
}

Test(derive_values, groups_have_scales_of_their_own)
{
    float values[COUNT];
    unsigned char block[2 * BLOCK];
    float least = INFINITY, largest = 0;

    fill_groups(DERIVE_VALUES_UNIFORM, 1, 16, values);
    for (int i = 0; i < COUNT; i += BLOCK) {
        struct encoding_loss loss = {0};
        float scale = 0;

        cr_assert_eq(encoding_encode(encoding_find(TAPML_ENCODING_Q8_ROWS), TAPML_F32, values + i,
                                     1, block, &loss),
                     TAPML_OK);
        memcpy(&scale, block, sizeof(scale));
        least = fminf(least, scale);
        largest = fmaxf(largest, scale);
    }
    cr_expect_gt(largest, 4 * least);
    fill(DERIVE_VALUES_UNIFORM, values);
    for (int i = 0; i < COUNT; i++) {
        cr_expect(fabsf(values[i]) <= 1);
    }
}

// Whatever the values of a tile are, its largest differs from those of the tiles beside it.
Test(derive_values, tiles_have_scales_of_their_own)
{
    enum { ROWS = 2, EACH = 32, TILES = COUNT / (ROWS * EACH) };
    float values[COUNT], plain[COUNT], largest[TILES] = {0};

    fill(DERIVE_VALUES_UNIFORM, plain);
    fill_groups(DERIVE_VALUES_UNIFORM, ROWS, EACH, values);
    for (int i = 0; i < COUNT; i++) {
        const int tile = i / WIDTH / ROWS * (WIDTH / EACH) + i % WIDTH / EACH;
        const int first = i / WIDTH / ROWS * ROWS * WIDTH + i % WIDTH / EACH * EACH;

        largest[tile] = fmaxf(largest[tile], fabsf(values[i]));
        cr_expect_float_eq(values[i] * plain[first], values[first] * plain[i],
                           1e-6f * fabsf(values[first]), "one magnitude in tile %d", tile);
    }
    for (int i = 0; i < TILES; i++) {
        cr_expect(fabsf(largest[i] / largest[(i + 1) % TILES] - 1) > 0.1f, "tile %d", i);
    }
}

// A share of all magnitudes, of both signs, but for those where exp leaves f32.
Test(derive_values, a_spread)
{
    float values[COUNT];
    int decades[5] = {0}, negative = 0;

    fill(DERIVE_VALUES_SPREAD, values);
    for (int i = 0; i < COUNT; i++) {
        const float value = fabsf(values[i]);

        negative += values[i] < 0;
        cr_expect(value >= 0.002f && value < 512, "%g", (double)value);
        cr_expect_not(value > 80.01f && value < 111.99f, "%g", (double)value);
        decades[value < 0.02f ? 0 : value < 0.2f ? 1 : value < 2 ? 2 : value < 20 ? 3 : 4]++;
    }
    cr_expect(negative > COUNT / 3 && negative < 2 * COUNT / 3);
    for (int i = 0; i < 5; i++) {
        cr_expect_gt(decades[i], COUNT / 10, "decade %d: %d", i, decades[i]);
    }
}

Test(derive_values, a_spread_of_f16_is_finite)
{
    struct random random;
    uint16_t values[COUNT];
    const struct derive_drawing drawing = {
        .random = &random, .values = DERIVE_VALUES_SPREAD, .width = 64, .range = 60000};

    random_init(&random, 1);
    derive_values_fill(&drawing, TAPML_F16, COUNT, values);
    for (int i = 0; i < COUNT; i++) {
        cr_expect(isfinite(convert_f16_to_f32(values[i])));
    }
}

// At a value that a formula branches at, next to it on either side, and farther away.
Test(derive_values, critical_values_and_their_neighbours)
{
    float values[COUNT];
    int at = 0, near = 0, above = 0, below = 0;

    fill(DERIVE_VALUES_CRITICAL, values);
    for (int i = 0; i < COUNT; i++) {
        const float distance = fminf(fabsf(values[i] + 9), fabsf(values[i] - 9));

        at += distance == 0;
        near += distance > 0 && distance < 0.001f;
        above += distance > 0.001f && fabsf(values[i]) > 9;
        below += distance > 0.001f && fabsf(values[i]) < 9;
    }
    cr_expect(at > 16 && near > 32 && above > 32 && below > 32, "%d %d %d %d", at, near, above,
              below);
}

Test(derive_values, rows_that_are_sorted_or_alternate)
{
    float values[COUNT];

    fill(DERIVE_VALUES_SORTED, values);
    for (int i = 1; i < COUNT; i++) {
        if (i % 64 != 0) {
            cr_expect((values[i] > values[i - 1]) == (i / 64 % 2 == 0));
        }
    }
    fill(DERIVE_VALUES_ALTERNATING, values);
    for (int i = 0; i < COUNT; i++) {
        cr_expect((values[i] > 0) == (i % 2 == 0) && fabsf(values[i]) >= 0.5f);
    }
}
