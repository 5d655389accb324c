// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// Values of f16 themselves: how they are moved and how numbers are rounded to them. Ops over them
// are checked by device_check, with every fixture.

#include "device.h"
#include "harness/formulas.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static struct plugin *device;

static void open_device(void)
{
    device = device_open();
}

static void close_device(void)
{
    device_close(device);
}

TestSuite(half, .init = open_device, .fini = close_device, .timeout = 300);

Test(half, is_taken)
{
    cr_assert(device_claims_half(device));
}

// All numbers of f16, in rows that no store of two values at once would keep apart.
Test(half, every_number_is_moved)
{
    enum { ROWS = 257, WIDTH = 255, COUNT = ROWS * WIDTH };
    double *x = device_array(COUNT), *y = device_array(COUNT);
    struct op_fixture fixture = {.op = &tapml_copy, .output = TAPML_COPY_Y};

    for (int i = 0; i < COUNT; i++) {
        const int exponent = i >> 10 & 31, digits = i & 1023;
        const double size = exponent == 31  ? INFINITY
                            : exponent == 0 ? ldexp(digits, -24)
                                            : ldexp(1024 + digits, exponent - 25);

        x[i] = i >> 15 != 0 ? -size : size;
    }
    fixture.arguments[TAPML_COPY_X].tensor = op_fixture_rows(TAPML_F16, ROWS, WIDTH, x);
    fixture.arguments[TAPML_COPY_Y].tensor =
        op_fixture_spread(op_fixture_rows(TAPML_F16, ROWS, WIDTH, NULL), 1, 2);
    op_fixture_run(&fixture, device, y);
    for (int i = 0; i < COUNT; i++) {
        cr_assert(x[i] == y[i] && !signbit(x[i]) == !signbit(y[i]), "%a became %a", x[i], y[i]);
    }
    free(x);
    free(y);
}

Test(half, state_is_taken)
{
    cr_assert(device_claims_half_state(device));
}

Test(half, blocks_are_taken)
{
    cr_assert(device_claims_blocks(device));
}

// Halfway between two neighbours, and a little to either side of it: at the borders of the
// subnormal numbers, of a power of two, of what is infinite.
static const double middles[] = {
    0x1p-25,   0x1.8p-24,  0x1.ffcp-15, 0x1.ffep-15, 0x1.002p-14, 0x1.006p-14, 0x1.002p0, 0x1.006p0,
    0x1.ffep3, 0x1.5566p7, 65504,       65520,       0x1p16,      0x1p-30,     1e30,      0};

enum { MIDDLES = sizeof(middles) / sizeof(*middles), ROUNDED = MIDDLES * 6 };

static void fill_rounded(double *values)
{
    for (int i = 0; i < ROUNDED; i++) {
        const float middle = (float)middles[i / 6];
        const float near = i % 3 == 0   ? nextafterf(middle, 0)
                           : i % 3 == 1 ? middle
                                        : nextafterf(middle, INFINITY);

        values[i] = i % 6 < 3 ? near : -near;
    }
}

static void expect_rounded(const double *values, const double *y)
{
    for (int i = 0; i < ROUNDED; i++) {
        const double expected = formulas_rounded(values[i], TAPML_F16);

        cr_expect(y[i] == expected, "%a became %a, expected %a", values[i], y[i], expected);
    }
}

Test(half, numbers_are_rounded_to_the_nearest_and_ties_to_even)
{
    static const double ids[] = {0};
    double table[ROUNDED], y[ROUNDED];
    struct op_fixture fixture = {.op = &tapml_embed, .output = TAPML_EMBED_Y};

    fill_rounded(table);
    fixture.arguments[TAPML_EMBED_TABLE].tensor = op_fixture_rows(TAPML_F32, 1, ROUNDED, table);
    fixture.arguments[TAPML_EMBED_IDS].tensor = op_fixture_row(TAPML_I32, 1, ids);
    fixture.arguments[TAPML_EMBED_Y].tensor = op_fixture_rows(TAPML_F16, 1, ROUNDED, NULL);
    op_fixture_run(&fixture, device, y);
    expect_rounded(table, y);
}

// Rows that are appended to a state, in heads that are read in groups of four and in heads of 3.
Test(half, appended_rows_are_rounded_likewise)
{
    static const int64_t widths[] = {32, 3};

    for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
        const int64_t heads = ROUNDED / widths[i];
        double rows[ROUNDED], state[3 * ROUNDED];
        struct op_fixture fixture = {.op = &tapml_state_append, .output = TAPML_STATE_APPEND_STATE};
        struct op_fixture_argument *a = fixture.arguments;

        fill_rounded(rows);
        for (int at = 0; at < 3 * ROUNDED; at++) {
            state[at] = at % 7;
        }
        a[TAPML_STATE_APPEND_STATE].tensor =
            op_fixture_heads(TAPML_F16, 3, heads, widths[i], state);
        a[TAPML_STATE_APPEND_ROWS].tensor = op_fixture_heads(TAPML_F32, 1, heads, widths[i], rows);
        a[TAPML_STATE_APPEND_POSITION].i64 = 1;
        op_fixture_run(&fixture, device, state);
        expect_rounded(rows, state + ROUNDED);
        for (int at = 0; at < 3 * ROUNDED; at++) {
            cr_expect(at / ROUNDED == 1 || state[at] == at % 7, "row %d changed", at / ROUNDED);
        }
    }
}
