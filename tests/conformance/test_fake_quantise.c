// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// Quantised inputs: the same bits on every device, ties and all.

#include "device.h"
#include "harness/fake_quants.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct plugin *device;

static void open_device(void)
{
    device = device_open();
}

static void close_device(void)
{
    device_close(device);
}

TestSuite(fake_quantise, .init = open_device, .fini = close_device, .timeout = 300);

static struct op_fixture fixture_of(const struct fake_quants *op)
{
    return (struct op_fixture){.op = &tapml_fake_quantise,
                               .output = TAPML_FAKE_QUANTISE_Y,
                               .arguments = {[TAPML_FAKE_QUANTISE_BLOCK].i64 = (int64_t)op->block,
                                             [TAPML_FAKE_QUANTISE_FORMAT].i64 = op->format,
                                             [TAPML_FAKE_QUANTISE_SCALING].i64 = op->scaling,
                                             [TAPML_FAKE_QUANTISE_LOW].f64 = op->low,
                                             [TAPML_FAKE_QUANTISE_HIGH].f64 = op->high,
                                             [TAPML_FAKE_QUANTISE_FACTOR].f64 = op->factor}};
}

static void check(const struct fake_quants_kind *kind, int64_t rows, int64_t width, int is_spread)
{
    const size_t count = (size_t)(rows * width);
    double *x = device_array(count), *expected = device_array(count), *y = device_array(count);
    struct op_fixture fixture = fixture_of(&kind->op);
    struct operand_spec xs = op_fixture_rows(TAPML_F32, rows, width, x);
    struct operand_spec ys = op_fixture_rows(TAPML_F32, rows, width, NULL);
    char name[64];

    fake_quants_fill(&kind->op, (size_t)rows, (size_t)width, x);
    fake_quants_expect(&kind->op, (size_t)rows, (size_t)width, x, expected);
    fixture.arguments[TAPML_FAKE_QUANTISE_X].tensor = is_spread ? op_fixture_spread(xs, 3, 5) : xs;
    fixture.arguments[TAPML_FAKE_QUANTISE_Y].tensor = is_spread ? op_fixture_spread(ys, 1, 2) : ys;
    op_fixture_run(&fixture, device, y);
    for (size_t i = 0; i < count; i++) {
        if (y[i] != expected[i] || !signbit(y[i]) != !signbit(expected[i])) {
            cr_expect_fail("%s, %ld x %ld: element %zu of %a is %a, expected %a", kind->name,
                           (long)rows, (long)width, i, x[i], y[i], expected[i]);
            break;
        }
    }
    (void)snprintf(name, sizeof(name), "%s, %ld x %ld", kind->name, (long)rows, (long)width);
    device_check_each(device, &fixture, count, expected, 0, name);
    free(x);
    free(y);
}

Test(fake_quantise, every_kind_on_blocks_that_fill_rows_and_on_some_that_do_not)
{
    for (int i = 0; i < FAKE_QUANTS_KINDS; i++) {
        check(&fake_quants_kinds[i], 12, 256, 0);
        check(&fake_quants_kinds[i], 20, 83, 1);
        check(&fake_quants_kinds[i], 10, 300, 1);
    }
}

Test(fake_quantise, rows_of_any_width)
{
    for (int i = 0; i < DEVICE_WIDTH_COUNT; i++) {
        check(&fake_quants_kinds[1 + i % 2], 1 + i % 5, device_widths[i], i % 3 == 0);
        check(&fake_quants_kinds[6 + i % 3], 3, device_widths[i], i % 3 == 1);
    }
}

// With scales of each call a block with a value that is not finite has no numbers at all; a given
// scale clamps what is too large.
Test(fake_quantise, what_is_not_finite)
{
    enum { WIDTH = 70, BLOCK = 16 };
    const struct fake_quants ops[] = {{0, 1, BLOCK, 0, 1e30, 1}, {3, 0, 0, 0, 1e30, 0.5}};

    for (int i = 0; i < 2; i++) {
        double x[WIDTH], y[WIDTH];
        struct op_fixture fixture = fixture_of(&ops[i]);

        for (int k = 0; k < WIDTH; k++) {
            x[k] = k == 20 ? NAN : k == 40 ? -INFINITY : 1;
        }
        fixture.arguments[TAPML_FAKE_QUANTISE_X].tensor = op_fixture_row(TAPML_F32, WIDTH, x);
        fixture.arguments[TAPML_FAKE_QUANTISE_Y].tensor = op_fixture_row(TAPML_F32, WIDTH, NULL);
        op_fixture_run(&fixture, device, y);
        for (int k = 0; k < WIDTH; k++) {
            const int is_lost = i == 0 ? k / BLOCK == 1 || k / BLOCK == 2 : k == 20;
            const double expected = i == 1 && k == 40 ? -64 : 1;

            cr_expect(is_lost ? isnan(y[k]) : y[k] == expected, "%d: %d is %g", i, k, y[k]);
        }
    }
}
