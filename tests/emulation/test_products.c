// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// Matrix products of cuda by the stand-in for cuBLASLt, which cuts sums off as matrix units do: are
// they as exact as sums of f32, whatever the activations are, and do kernels compute what is
// refused?

#include "harness/formulas.h"
#include "harness/op_fixture.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 33, OUTPUTS = 40, WIDTH = 2500 };

static const char *const switched_off[] = {"cublaslt", "off", NULL};

static struct plugin *open_plugin(const char *const *options)
{
    const struct plugin_options cuda = {
        .library = "plugins/cuda/tapml-cuda.so", .component = "cuda", .options = options};
    struct plugin *plugin = NULL;
    tapml_call call = {0};

    cr_assert_eq(plugin_open(&cuda, &call, &plugin), TAPML_OK, "%s", call.message);
    return plugin;
}

static uint64_t count_launches(struct plugin *plugin)
{
    tapml_object *queue = plugin_queue(plugin);
    const tapml_counters *counters = queue->vt->interface_of(queue, TAPML_COUNTERS);

    return counters->launches(queue);
}

// A linear; x is of `rows`, the weight of its dtype.
struct linear {
    uint32_t x_type, w_type;
    int64_t rows, width;
    const double *x, *w, *b; // b may be NULL.
};

static uint64_t run(struct plugin *plugin, const struct linear *linear, double *y)
{
    struct op_fixture fixture = {.op = &tapml_linear, .output = TAPML_LINEAR_Y};
    struct op_fixture_argument *arguments = fixture.arguments;
    const uint64_t before = count_launches(plugin);

    arguments[TAPML_LINEAR_X].tensor =
        op_fixture_rows(linear->x_type, linear->rows, linear->width, linear->x);
    arguments[TAPML_LINEAR_W].tensor =
        op_fixture_rows(linear->w_type, OUTPUTS, linear->width, linear->w);
    if (linear->b != NULL) {
        arguments[TAPML_LINEAR_B].tensor = op_fixture_row(TAPML_F32, OUTPUTS, linear->b);
    }
    arguments[TAPML_LINEAR_Y].tensor = op_fixture_rows(linear->x_type, linear->rows, OUTPUTS, NULL);
    op_fixture_run(&fixture, plugin, y);
    return count_launches(plugin) - before;
}

static double *array(size_t count)
{
    double *values = calloc(count, sizeof(*values));

    cr_assert_not_null(values);
    return values;
}

// The largest error of an element in parts of what its terms add up to: 2^-24 is one rounding of
// f32.
static double largest_error(const struct linear *linear, const double *y)
{
    double worst = 0;

    for (int64_t r = 0; r < linear->rows; r++) {
        for (int64_t o = 0; o < OUTPUTS; o++) {
            double sum = 0, size = 0;

            for (int64_t k = 0; k < linear->width; k++) {
                const double term =
                    linear->x[r * linear->width + k] * linear->w[o * linear->width + k];

                sum += term;
                size += fabs(term);
            }
            worst = fmax(worst, fabs(y[r * OUTPUTS + o] - sum) / size);
        }
    }
    return worst;
}

static double *values_of(uint64_t seed, uint32_t dtype, size_t count)
{
    return op_fixture_values(seed, dtype, count);
}

// Products of 16 bits are computed by parts, and in f32 as they are: each as exact as f32.
Test(products, as_exact_as_f32)
{
    static const struct {
        uint32_t type;
        uint64_t launches;
    } weights[] = {{TAPML_F32, 1}, {TAPML_BF16, 1 + 3}, {TAPML_F16, 1 + 3 + 1}};
    struct plugin *plugin = open_plugin(NULL);
    double *x = values_of(1, TAPML_F32, ROWS * WIDTH), *y = array(ROWS * OUTPUTS);
    double *again = array(ROWS * OUTPUTS);

    for (int i = 0; i < 3; i++) {
        double *w = values_of(2, weights[i].type, OUTPUTS * WIDTH);
        const struct linear linear = {TAPML_F32, weights[i].type, ROWS, WIDTH, x, w, NULL};

        cr_expect_eq(run(plugin, &linear, y), weights[i].launches, "%d: products were not taken",
                     i);
        cr_expect_lt(largest_error(&linear, y), 0x1p-21, "%d: %g", i, largest_error(&linear, y));
        (void)run(plugin, &linear, again);
        cr_expect_arr_eq(y, again, ROWS * OUTPUTS * sizeof(*y), "%d: other bits", i);
        free(w);
    }
    free(x);
    free(y);
    free(again);
    cr_expect_eq(plugin_close(plugin), 0);
}

// Rows of very large and of very small values, and both in one row.
Test(products, rows_of_any_size)
{
    static const uint32_t types[] = {TAPML_BF16, TAPML_F16};
    struct plugin *plugin = open_plugin(NULL);
    double *x = values_of(3, TAPML_F32, ROWS * WIDTH), *y = array(ROWS * OUTPUTS);

    for (int64_t r = 0; r < ROWS; r++) {
        for (int64_t k = 0; k < WIDTH; k++) {
            x[r * WIDTH + k] *= ldexp(1, (int)(r % 11) * 20 - 100 - (k % 5 == 0 ? 20 : 0));
        }
    }
    for (int i = 0; i < 2; i++) {
        double *w = values_of(4, types[i], OUTPUTS * WIDTH);
        const struct linear linear = {TAPML_F32, types[i], ROWS, WIDTH, x, w, NULL};

        (void)run(plugin, &linear, y);
        cr_expect_lt(largest_error(&linear, y), 0x1p-21, "%d: %g", i, largest_error(&linear, y));
        free(w);
    }
    free(x);
    free(y);
    cr_expect_eq(plugin_close(plugin), 0);
}

// A value that is not finite reaches its row and no other.
Test(products, what_is_not_finite)
{
    static const uint32_t types[] = {TAPML_BF16, TAPML_F16};
    struct plugin *plugin = open_plugin(NULL);
    double *x = values_of(5, TAPML_F32, ROWS * WIDTH), *y = array(ROWS * OUTPUTS);

    x[3 * WIDTH + 7] = INFINITY;
    x[5 * WIDTH + 8] = NAN;
    x[6 * WIDTH + 9] = 0x1.fffffep127; // The largest.
    for (int i = 0; i < 2; i++) {
        double *w = values_of(6, types[i], OUTPUTS * WIDTH);
        const struct linear linear = {TAPML_F32, types[i], ROWS, WIDTH, x, w, NULL};

        w[7] = 0.5;
        w[9] = 0.25;
        (void)run(plugin, &linear, y);
        cr_expect_eq(y[3 * OUTPUTS], INFINITY, "%g", y[3 * OUTPUTS]);
        cr_expect(isnan(y[5 * OUTPUTS]));
        cr_expect_eq(y[6 * OUTPUTS], 0x1.fffffep125, "%g", y[6 * OUTPUTS]);
        cr_expect(isfinite(y[2 * OUTPUTS]) && isfinite(y[4 * OUTPUTS]) && isfinite(y[7 * OUTPUTS]));
        free(w);
    }
    free(x);
    free(y);
    cr_expect_eq(plugin_close(plugin), 0);
}

// Activations of f16: rounded once, at the end. What has no product is computed by kernels.
Test(products, activations_in_f16)
{
    static const struct {
        uint32_t type;
        uint64_t launches;
    } weights[] = {{TAPML_F16, 1 + 1}, {TAPML_BF16, 1 + 2 + 1}, {TAPML_F32, 1}};
    struct plugin *plugin = open_plugin(NULL);
    double *x = values_of(7, TAPML_F16, ROWS * WIDTH), *b = values_of(8, TAPML_F32, OUTPUTS);
    double *y = array(ROWS * OUTPUTS), *expected = array(ROWS * OUTPUTS);

    for (int i = 0; i < 3; i++) {
        double *w = values_of(9, weights[i].type, OUTPUTS * WIDTH);
        const struct linear linear = {TAPML_F16, weights[i].type, ROWS, WIDTH, x, w, b};

        formulas_linear(
            &(struct formulas_linear){
                .rows = ROWS, .in = WIDTH, .out = OUTPUTS, .x = x, .w = w, .b = b},
            expected);
        cr_expect_eq(run(plugin, &linear, y), weights[i].launches, "%d", i);
        for (int k = 0; k < ROWS * OUTPUTS; k++) {
            const double unit = fmax(fabs(expected[k]) * 0x1p-11, 0x1p-25);

            cr_assert(fabs(y[k] - expected[k]) <= unit * 1.02 + 1e-4, "%d: %g, expected %g", i,
                      y[k], expected[k]);
        }
        free(w);
    }
    free(x);
    free(b);
    free(y);
    free(expected);
    cr_expect_eq(plugin_close(plugin), 0);
}

static void expect_kernels(const char *fault, const char *const *options)
{
    double *x = values_of(10, TAPML_F32, ROWS * WIDTH),
           *w = values_of(11, TAPML_BF16, OUTPUTS * WIDTH);
    double *y = array(ROWS * OUTPUTS), *expected = array(ROWS * OUTPUTS);
    const struct linear linear = {TAPML_F32, TAPML_BF16, ROWS, WIDTH, x, w, NULL};
    struct plugin *plugin = open_plugin(switched_off);

    cr_expect_eq(run(plugin, &linear, expected), 1);
    cr_expect_eq(plugin_close(plugin), 0);
    (void)setenv("EMULATED_CUBLASLT_FAULT", fault, 1);
    plugin = open_plugin(options);
    (void)run(plugin, &linear, y);
    cr_expect_arr_eq(y, expected, ROWS * OUTPUTS * sizeof(*y), "%s", fault);
    cr_expect_eq(run(plugin, &linear, y), 1, "%s: what was refused is tried again", fault);
    cr_expect_eq(plugin_close(plugin), 0);
    free(x);
    free(w);
    free(y);
    free(expected);
}

Test(products, library_that_cannot_begin)
{
    expect_kernels("handle", NULL);
}

Test(products, product_without_a_way)
{
    expect_kernels("search", NULL);
}

Test(products, product_that_is_refused_late)
{
    expect_kernels("matmul", NULL);
}

// Few rows are a kernel's, and so is all where the library is off; a wrong name is an error.
Test(products, when)
{
    static const char *const wrong[] = {"cublaslt", "libno-such.so", NULL};
    const struct plugin_options options = {
        .library = "plugins/cuda/tapml-cuda.so", .component = "cuda", .options = wrong};
    struct plugin *plugin = open_plugin(NULL), *refused = NULL;
    double *x = values_of(12, TAPML_F32, ROWS * WIDTH), *y = array(ROWS * OUTPUTS);
    double *w = values_of(13, TAPML_F32, OUTPUTS * WIDTH);
    const struct linear linear = {TAPML_F32, TAPML_F32, 8, WIDTH, x, w, NULL};
    tapml_call call = {0};

    cr_expect_eq(run(plugin, &linear, y), 1);
    cr_expect_neq(strstr(plugin_info(plugin)->driver, "cuBLASLt "), NULL, "%s",
                  plugin_info(plugin)->driver);
    cr_expect_eq(plugin_close(plugin), 0);
    plugin = open_plugin(switched_off);
    cr_expect_eq(strstr(plugin_info(plugin)->driver, "cuBLASLt"), NULL, "%s",
                 plugin_info(plugin)->driver);
    cr_expect_eq(plugin_close(plugin), 0);
    cr_expect_eq(plugin_open(&options, &call, &refused), TAPML_UNAVAILABLE);
    cr_expect_neq(strstr(call.message, "libno-such.so"), NULL, "%s", call.message);
    free(x);
    free(y);
    free(w);
}
