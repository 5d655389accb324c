// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/tile_matrix.h"

#include "harness/formulas.h"
#include "harness/op_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { SIZES = 5 };

double *tile_matrix_values(uint32_t index, size_t rows, size_t columns, const double *drawn)
{
    const struct codec_tiles *tiles = codec_tiles_at(index);
    const size_t count = rows * columns;
    struct codec_matrix matrix = {rows, columns, {NULL}};
    unsigned char *spans[CODEC_TILES_SPANS_MAX] = {NULL};
    float *floats = calloc(count + 1, sizeof(*floats));
    double *values = calloc(count + 1, sizeof(*values));

    cr_assert(floats != NULL && values != NULL);
    for (size_t i = 0; i < count; i++) {
        floats[i] = (float)drawn[i];
    }
    for (uint32_t i = 0; i < tiles->encoding->n_spans; i++) {
        spans[i] = calloc(codec_tiles_bytes(tiles->encoding->spans[i], rows, columns), 1);
        cr_assert_not_null(spans[i]);
        matrix.spans[i] = spans[i];
    }
    codec_tiles_write(tiles, rows, columns, floats, spans);
    for (size_t row = 0; row < rows; row++) {
        codec_tiles_read(tiles, &matrix, row, 0, columns, floats);
        for (size_t i = 0; i < columns; i++) {
            values[row * columns + i] = floats[i];
        }
    }
    for (uint32_t i = 0; i < tiles->encoding->n_spans; i++) {
        free(spans[i]);
    }
    free(floats);
    return values;
}

static size_t tile_at(size_t index, uint32_t extent)
{
    return extent == TAPML_TILE_ALL ? 0 : index / extent;
}

// A magnitude whose scale is a subnormal number of its type, if it is a float.
static double tiny_of(enum codec_number scales)
{
    return scales == CODEC_F16 ? 0x1p-14 : scales == CODEC_E4M3 ? 0x1p-16 : 0x1p-140;
}

void tile_matrix_init(struct tile_matrix *matrix, uint64_t seed)
{
    const struct codec_tiles *tiles = codec_tiles_at(matrix->index);
    const tapml_span *span = tiles->encoding->spans[1];
    const double sizes[SIZES] = {1, 0.3, 0, tiny_of(tiles->scales), 0.7};

    matrix->drawn = op_fixture_values(seed, TAPML_F32, matrix->rows * matrix->columns);
    for (size_t i = 0; i < matrix->rows * matrix->columns; i++) {
        const size_t row = i / matrix->columns, column = i % matrix->columns;
        const size_t tile = 3 * tile_at(row, span->tile_rows) + tile_at(column, span->tile_values);

        matrix->drawn[i] *= sizes[tile % SIZES];
    }
    matrix->values =
        tile_matrix_values(matrix->index, matrix->rows, matrix->columns, matrix->drawn);
}

void tile_matrix_release(struct tile_matrix *matrix)
{
    free(matrix->drawn);
    free(matrix->values);
}

double *tile_matrix_product(const struct tile_matrix *matrix,
                            size_t tokens,
                            int transposed,
                            const double *x)
{
    const size_t in = transposed ? matrix->rows : matrix->columns;
    const size_t out = transposed ? matrix->columns : matrix->rows;
    double *product = calloc(tokens * out + 1, sizeof(*product));

    cr_assert_not_null(product);
    formulas_linear(&(struct formulas_linear){.rows = tokens,
                                              .in = in,
                                              .out = out,
                                              .x = x,
                                              .w = matrix->values,
                                              .transposed = transposed},
                    product);
    return product;
}
