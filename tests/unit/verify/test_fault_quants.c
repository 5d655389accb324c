// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "verify/fault_quants.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <float.h>
#include <string.h>

enum { COUNT = 6 };

static struct fault_quants quants_of(int64_t format, int64_t scaling, int64_t block, double factor)
{
    const tapml_value args[TAPML_FAKE_QUANTISE_Y + 1] = {
        [TAPML_FAKE_QUANTISE_BLOCK] = {.kind = TAPML_P_I64, .u.i = block},
        [TAPML_FAKE_QUANTISE_FORMAT] = {.kind = TAPML_P_I64, .u.i = format},
        [TAPML_FAKE_QUANTISE_SCALING] = {.kind = TAPML_P_I64, .u.i = scaling},
        [TAPML_FAKE_QUANTISE_LOW] = {.kind = TAPML_P_F64, .u.d = 0},
        [TAPML_FAKE_QUANTISE_HIGH] = {.kind = TAPML_P_F64, .u.d = FLT_MAX},
        [TAPML_FAKE_QUANTISE_FACTOR] = {.kind = TAPML_P_F64, .u.d = factor}};
    return fault_quants_read(args, COUNT, COUNT);
}

static void expect(const double *found, const double *expected)
{
    for (int i = 0; i < COUNT; i++) {
        cr_expect_float_eq(found[i], expected[i], 1e-12, "%d: %g, expected %g", i, found[i],
                           expected[i]);
    }
}

Test(fault_quants, quants_are_cut_off)
{
    const double x[COUNT] = {448, 15.9, -15.9, 0.0029, 30.1, 0};
    const double floats[COUNT] = {448, 15, -15, 0x1p-9, 30, 0};
    const double wholes[COUNT] = {127, 31, -31, 0, 60, 0};
    double y[COUNT];
    struct fault_quants quants = quants_of(0, 1, 0, 1);

    fault_quants_truncate(&quants, x, y);
    expect(y, floats);
    quants = quants_of(3, 0, 0, 0.5);
    fault_quants_truncate(&quants, x, y);
    for (int i = 0; i < COUNT; i++) {
        y[i] *= 2; // Quants.
    }
    expect(y, wholes);
}

// Blocks of two with the scales 1, 2 and 4.
Test(fault_quants, scales_are_those_of_other_blocks)
{
    static const struct {
        int64_t format, scaling;
        double most, factor;
    } kinds[] = {{0, 1, 448, 1}, {1, 2, 57344, 1}, {2, 3, 6, 1}, {2, 4, 6, 8}, {2, 5, 6, 0.25}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const double most = kinds[i].most;
        const double x[COUNT] = {most, 1, -2 * most, 2, 4 * most, 0};
        const double next[COUNT] = {2 * most, 2, -4 * most, 4, most, 0};
        const double reversed[COUNT] = {4 * most, 4, -2 * most, 2, most, 0};
        const struct fault_quants quants =
            quants_of(kinds[i].format, kinds[i].scaling, 2, kinds[i].factor);
        double y[COUNT];

        memcpy(y, x, sizeof(y));
        fault_quants_move_scales(&quants, 0, x, y);
        expect(y, next);
        memcpy(y, x, sizeof(y));
        fault_quants_move_scales(&quants, 1, x, y);
        expect(y, reversed);
    }
    cr_assert_not(fault_quants_has_scales(0));
}

Test(fault_quants, scales_of_stored_blocks)
{
    enum { STEP = 6, BLOCKS = 5 };
    unsigned char blocks[STEP * BLOCKS];
    float scales[BLOCKS];

    for (int is_reversed = 0; is_reversed < 2; is_reversed++) {
        for (int b = 0; b < BLOCKS; b++) {
            const float scale = (float)b;
            memset(blocks + (size_t)b * STEP, b, STEP);
            memcpy(blocks + (size_t)b * STEP, &scale, sizeof(scale));
        }
        fault_quants_move_stored(blocks, STEP, BLOCKS, is_reversed);
        for (int b = 0; b < BLOCKS; b++) {
            memcpy(&scales[b], blocks + (size_t)b * STEP, sizeof(scales[b]));
            cr_assert_eq(scales[b], (float)(is_reversed ? BLOCKS - 1 - b : (b + 1) % BLOCKS));
            cr_assert_eq(blocks[b * STEP + STEP - 1], b, "quants stay");
        }
    }
}

Test(fault_quants, what_a_state_has_is_cut_off)
{
    enum { STEP = 8, VALUES = 4 };
    unsigned char blocks[2 * STEP] = {0};
    const float scale = 0.5F;

    memcpy(blocks + STEP, &scale, sizeof(scale));
    fault_quants_truncate_stored(blocks, STEP, VALUES, VALUES + 1, 3.9F);
    fault_quants_truncate_stored(blocks, STEP, VALUES, VALUES + 2, -3.9F);
    fault_quants_truncate_stored(blocks, STEP, VALUES, 1, 3.9F);
    cr_assert_eq(blocks[STEP + 5], 7);
    cr_assert_eq((signed char)blocks[STEP + 6], -7);
    cr_assert_eq(blocks[5], 0, "its scale is 0");
    cr_assert_eq(fault_quants_truncate_half(1.00099F), 0x3c01, "1 + 2^-10 and more");
    cr_assert_eq(fault_quants_truncate_half(-1.0009F), 0xbc00);
    cr_assert_eq(fault_quants_truncate_half(1e6F), 0x7bff);
}
