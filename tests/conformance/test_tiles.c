// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// Weights in tiles, on devices that take them.

#include "device.h"
#include "harness/formulas.h"
#include "harness/tile_matrix.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
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

TestSuite(tiles, .init = open_device, .fini = close_device, .timeout = 300);

static struct tile_matrix matrix_of(const char *id, size_t rows, size_t columns, uint64_t seed)
{
    struct tile_matrix matrix = {.rows = rows, .columns = columns};

    while (strcmp(codec_tiles_at(matrix.index)->encoding->id, id) != 0) {
        matrix.index++;
    }
    tile_matrix_init(&matrix, seed);
    return matrix;
}

static struct operand_spec spec_of(const struct tile_matrix *matrix)
{
    struct operand_spec spec = op_fixture_rows(OPERAND_TILES(matrix->index), (int64_t)matrix->rows,
                                               (int64_t)matrix->columns, matrix->drawn);

    spec.lead = 2;
    return spec;
}

static const char *id_of(const struct tile_matrix *matrix)
{
    return codec_tiles_at(matrix->index)->encoding->id;
}

static void check_linear(const struct tile_matrix *matrix, size_t tokens, int transposed)
{
    const size_t in = transposed ? matrix->rows : matrix->columns;
    const size_t out = transposed ? matrix->columns : matrix->rows;
    double *x = op_fixture_values(1, TAPML_F32, tokens * in);
    double *expected = tile_matrix_product(matrix, tokens, transposed, x);
    struct op_fixture fixture = {.op = &tapml_linear, .output = TAPML_LINEAR_Y};
    struct op_fixture_argument *arguments = fixture.arguments;

    arguments[TAPML_LINEAR_X].tensor = op_fixture_rows(TAPML_F32, (int64_t)tokens, (int64_t)in, x);
    arguments[TAPML_LINEAR_W].tensor = spec_of(matrix);
    arguments[TAPML_LINEAR_TRANSPOSED].i64 = transposed;
    arguments[TAPML_LINEAR_Y].tensor =
        op_fixture_rows(TAPML_F32, (int64_t)tokens, (int64_t)out, NULL);
    device_check(device, &fixture, tokens * out, expected, 1e-5, id_of(matrix));
    free(x);
}

// Kernels know quants as a constant and all else as numbers: each kind of quants, scales and zero
// points once, in rows that are read four values at a time and in such that are not. The last tiles
// are partial.
static const struct {
    const char *id;
    size_t columns, tokens;
} products[] = {
    {"tiles.e4m3.f32.128x128/1", 300, 5},
    {"tiles.e4m3.bf16.row/1", 67, 1},
    {"tiles.e5m2.f16.1x64/1", 200, 1},
    {"tiles.e4m3.e8m0.1x32/1", 300, 5},
    {"tiles.e2m1.e8m0.1x32/1", 300, 5},
    {"tiles.e2m1.e4m3.1x16.times/1", 79, 1},
    {"tiles.e2m1.e4m3.1x16.divides/1", 300, 5},
    {"tiles.i8.f32.1x128.zeros/1", 300, 5},
    {"tiles.i8.bf16.all/1", 300, 5},
    {"tiles.u8.f16.1x32.zeros/1", 200, 1},
    {"tiles.u4.f16.1x32.zeros1/1", 300, 5},
    {"tiles.u4.bf16.1x64.zeros/1", 79, 1},
    {"tiles.u4.f32.row/1", 300, 33},
};

Test(tiles, are_multiplied)
{
    for (size_t i = 0; i < sizeof(products) / sizeof(*products); i++) {
        struct tile_matrix matrix = matrix_of(products[i].id, 131, products[i].columns, 2);

        if (operand_is_taken(device, OPERAND_TILES(matrix.index))) {
            check_linear(&matrix, products[i].tokens, 0);
        }
        tile_matrix_release(&matrix);
    }
}

Test(tiles, are_multiplied_the_other_way_round)
{
    static const char *const ids[] = {"tiles.e4m3.f32.128x128/1", "tiles.u4.f16.1x32.zeros/1"};

    for (size_t i = 0; i < 2; i++) {
        struct tile_matrix matrix = matrix_of(ids[i], 140, 148, 2);

        if (operand_is_taken(device, OPERAND_TILES(matrix.index))) {
            check_linear(&matrix, 3, 1);
        }
        tile_matrix_release(&matrix);
    }
}

// One kernel for all: each encoding that there is. What devices divide, or do not know as
// subnormal, is off by little.
Test(tiles, are_tables)
{
    enum { ROWS = 131, COLUMNS = 150, COUNT = 6 };
    static const int32_t ids[COUNT] = {130, 0, 7, 127, 128, 65};
    double numbers[COUNT];

    for (int i = 0; i < COUNT; i++) {
        numbers[i] = ids[i];
    }
    for (uint32_t e = 0; codec_tiles_at(e) != NULL; e++) {
        struct tile_matrix matrix = {.index = e, .rows = ROWS, .columns = COLUMNS - e % 2};
        struct op_fixture fixture = {.op = &tapml_embed, .output = TAPML_EMBED_Y};
        const size_t count = COUNT * matrix.columns;

        if (!operand_is_taken(device, OPERAND_TILES(e))) {
            continue;
        }
        double *expected = device_array(count);

        tile_matrix_init(&matrix, 3);
        formulas_embed(&(struct formulas_embed){COUNT, matrix.columns, matrix.values, ids, 0},
                       expected);
        fixture.arguments[TAPML_EMBED_TABLE].tensor = spec_of(&matrix);
        fixture.arguments[TAPML_EMBED_IDS].tensor = op_fixture_row(TAPML_I32, COUNT, numbers);
        fixture.arguments[TAPML_EMBED_Y].tensor =
            op_fixture_rows(TAPML_F32, COUNT, (int64_t)matrix.columns, NULL);
        device_check(device, &fixture, count, expected, 1e-7, id_of(&matrix));
        tile_matrix_release(&matrix);
    }
}

// Both ways round, of each kind of quants.
Test(tiles, are_experts)
{
    enum { EXPERTS = 2, TOKENS = 3, CHOSEN = 2 };
    static const char *const encodings[] = {"tiles.e2m1.e8m0.1x32/1", "tiles.e4m3.f32.128x128/1",
                                            "tiles.u4.f16.1x32.zeros/1",
                                            "tiles.i8.bf16.1x32.zeros/1"};
    double indices[TOKENS * CHOSEN] = {0, 1, 1, 0, 0, 1};

    for (int i = 0; i < 4; i++) {
        const int transposed = i % 2;
        struct tile_matrix matrices[EXPERTS] = {matrix_of(encodings[i], 133, 78, 4),
                                                matrix_of(encodings[i], 133, 78, 5)};
        const double *const w[EXPERTS] = {matrices[0].values, matrices[1].values};
        const struct operand_spec rest[] = {spec_of(&matrices[1]), {0}};
        const size_t in = transposed ? 133 : 78, out = transposed ? 78 : 133;
        double *x = op_fixture_values(1, TAPML_F32, TOKENS * in);
        double *expected = device_array(TOKENS * CHOSEN * out);
        struct op_fixture fixture = {.op = &tapml_linear_experts, .output = TAPML_LINEAR_EXPERTS_Y};
        struct op_fixture_argument *arguments = fixture.arguments;

        formulas_linear_experts(&(struct formulas_linear_experts){.tokens = TOKENS,
                                                                  .k = CHOSEN,
                                                                  .in = in,
                                                                  .out = out,
                                                                  .slots = 1,
                                                                  .x = x,
                                                                  .indices = indices,
                                                                  .w = w,
                                                                  .transposed = transposed},
                                expected);
        arguments[TAPML_LINEAR_EXPERTS_X].tensor =
            op_fixture_heads(TAPML_F32, TOKENS, 1, (int64_t)in, x);
        arguments[TAPML_LINEAR_EXPERTS_INDICES].tensor =
            op_fixture_rows(TAPML_I32, TOKENS, CHOSEN, indices);
        arguments[TAPML_LINEAR_EXPERTS_W].tensor = spec_of(&matrices[0]);
        arguments[TAPML_LINEAR_EXPERTS_W].panels = rest;
        arguments[TAPML_LINEAR_EXPERTS_TRANSPOSED].i64 = transposed;
        arguments[TAPML_LINEAR_EXPERTS_Y].tensor =
            op_fixture_heads(TAPML_F32, TOKENS, CHOSEN, (int64_t)out, NULL);
        if (operand_is_taken(device, OPERAND_TILES(matrices[0].index))) {
            device_check(device, &fixture, TOKENS * CHOSEN * out, expected, 1e-5,
                         id_of(&matrices[0]));
        } else {
            free(expected);
        }
        free(x);
        tile_matrix_release(&matrices[0]);
        tile_matrix_release(&matrices[1]);
    }
}
