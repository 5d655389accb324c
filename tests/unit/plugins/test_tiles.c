// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// Weights in tiles on the components of the CPU, against the same weights as floats.

#include "harness/tile_matrix.h"
#include "plugins/reference.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS_MAX = 16, OUT_MAX = 131, IN_MAX = 1200 };

// Values of one size, unlike tile_matrix_init.
static void matrix_init(struct tile_matrix *matrix)
{
    matrix->drawn = op_fixture_values(2, TAPML_F32, matrix->rows * matrix->columns);
    matrix->values =
        tile_matrix_values(matrix->index, matrix->rows, matrix->columns, matrix->drawn);
}

static struct operand_spec spec_of(const struct tile_matrix *matrix, bool is_apart)
{
    const uint32_t dtype = is_apart ? OPERAND_APART(matrix->index) : OPERAND_TILES(matrix->index);
    struct operand_spec spec =
        op_fixture_rows(dtype, (int64_t)matrix->rows, (int64_t)matrix->columns, matrix->drawn);

    spec.skew_bytes = is_apart ? 3 : 0; // Files put spans at any address.
    spec.lead = is_apart ? 0 : 2;
    return spec;
}

static double *multiply(const struct tile_matrix *matrix,
                        size_t tokens,
                        int transposed,
                        bool is_apart,
                        const char *component,
                        const char *device)
{
    const size_t in = transposed ? matrix->rows : matrix->columns;
    const size_t out = transposed ? matrix->columns : matrix->rows;
    double *x = op_fixture_values(1, TAPML_F32, tokens * in);
    struct op_fixture fixture = {.op = &tapml_linear, .output = TAPML_LINEAR_Y};

    fixture.arguments[TAPML_LINEAR_X].tensor =
        op_fixture_rows(TAPML_F32, (int64_t)tokens, (int64_t)in, x);
    fixture.arguments[TAPML_LINEAR_W].tensor = spec_of(matrix, is_apart);
    fixture.arguments[TAPML_LINEAR_TRANSPOSED].i64 = transposed;
    fixture.arguments[TAPML_LINEAR_Y].tensor =
        op_fixture_rows(TAPML_F32, (int64_t)tokens, (int64_t)out, NULL);
    double *y = reference_output(&fixture, component, device, 0, NULL);

    free(x);
    return y;
}

static void check(const struct tile_matrix *matrix,
                  size_t tokens,
                  int transposed,
                  const char *component,
                  const char *device)
{
    const size_t in = transposed ? matrix->rows : matrix->columns;
    const size_t out = transposed ? matrix->columns : matrix->rows;
    double *x = op_fixture_values(1, TAPML_F32, tokens * in);
    double *expected = tile_matrix_product(matrix, tokens, transposed, x), largest = 0;

    for (size_t i = 0; i < in * out; i++) { // Of x about as much.
        largest = fmax(largest, fabs(matrix->values[i]));
    }
    for (int is_apart = 0; is_apart < 2; is_apart++) {
        double *computed = multiply(matrix, tokens, transposed, is_apart, component, device);

        for (size_t i = 0; i < tokens * out; i++) {
            cr_assert_float_eq(computed[i], expected[i],
                               2e-6 * largest * largest * sqrt((double)in),
                               "%s on %s, %zu tokens, %zu of %zu values: %g for %g",
                               codec_tiles_at(matrix->index)->encoding->id, device, tokens, i, in,
                               computed[i], expected[i]);
        }
        free(computed);
    }
    free(expected);
    free(x);
}

// The levels of this machine are those that conformance opens one by one; here it is the best and
// what every processor has.
static const char *const devices[] = {NULL, "portable"};

Test(tiles, are_multiplied_in_every_encoding, .timeout = 300)
{
    struct tile_matrix matrix = {.rows = 37, .columns = 200};

    for (; codec_tiles_at(matrix.index) != NULL; matrix.index++) {
        matrix_init(&matrix);
        check(&matrix, 3, 0, "reference", "f32");
        for (size_t d = 0; d < sizeof(devices) / sizeof(*devices); d++) {
            check(&matrix, 1, 0, "cpu", devices[d]);
            check(&matrix, 5, 0, "cpu", devices[d]);
        }
        tile_matrix_release(&matrix);
    }
}

// Widths around those of vectors, blocks and tiles; both ways round.
Test(tiles, rows_of_any_length_are_multiplied, .timeout = 300)
{
    static const size_t widths[] = {1, 2, 15, 16, 17, 31, 33, 127, 128, 129, 1023, 1024, 1200};
    static const char *const ids[] = {"tiles.e4m3.f32.128x128/1", "tiles.u4.f16.1x32.zeros/1",
                                      "tiles.e2m1.e4m3.1x16.times/1", "tiles.i8.bf16.row.zeros/1"};

    for (size_t i = 0; i < 4 * sizeof(widths) / sizeof(*widths); i++) {
        struct tile_matrix matrix = {.rows = OUT_MAX, .columns = widths[i / 4]};

        while (strcmp(codec_tiles_at(matrix.index)->encoding->id, ids[i % 4]) != 0) {
            matrix.index++;
        }
        matrix_init(&matrix);
        check(&matrix, 2, 0, "reference", "f64");
        check(&matrix, i % 2 != 0 ? 1 : TOKENS_MAX, 0, "cpu", devices[i % 2]);
        check(&matrix, 2, 1, "cpu", NULL);
        tile_matrix_release(&matrix);
    }
}

// A row of x that is zero but for one value gives that value of each row of weights: exactly, where
// rows of x are together.
Test(tiles, values_are_exact, .timeout = 300)
{
    enum { WIDTH = 48, ROWS = 7 };
    struct tile_matrix matrix = {.rows = ROWS, .columns = WIDTH};
    double *x = calloc((size_t)WIDTH * WIDTH, sizeof(*x));

    for (size_t i = 0; i < WIDTH; i++) {
        x[i * WIDTH + i] = 1;
    }
    for (; codec_tiles_at(matrix.index) != NULL; matrix.index++) {
        matrix_init(&matrix);
        for (size_t d = 0; d < sizeof(devices) / sizeof(*devices); d++) {
            struct op_fixture fixture = {.op = &tapml_linear, .output = TAPML_LINEAR_Y};

            fixture.arguments[TAPML_LINEAR_X].tensor = op_fixture_rows(TAPML_F32, WIDTH, WIDTH, x);
            fixture.arguments[TAPML_LINEAR_W].tensor = spec_of(&matrix, true);
            fixture.arguments[TAPML_LINEAR_Y].tensor =
                op_fixture_rows(TAPML_F32, WIDTH, ROWS, NULL);
            double *y = reference_output(&fixture, "cpu", devices[d], 0, NULL);

            for (size_t i = 0; i < WIDTH * ROWS; i++) {
                const double expected = matrix.values[i % ROWS * WIDTH + i / ROWS];

                cr_assert_eq(y[i], expected, "%s: %g for %g",
                             codec_tiles_at(matrix.index)->encoding->id, y[i], expected);
            }
            free(y);
        }
        tile_matrix_release(&matrix);
    }
    free(x);
}
