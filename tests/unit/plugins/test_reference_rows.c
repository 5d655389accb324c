// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/formulas.h"
#include "plugins/reference.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_ROWS = 40 };

// `count` numbers of rows, below `limit`: all of them turn up.
static double *numbers(size_t count, size_t limit, int32_t *ids)
{
    double *values = calloc(count, sizeof(*values));

    cr_assert_not_null(values);
    for (size_t i = 0; i < count; i++) {
        ids[i] = (int32_t)((i * 7 + limit - 1) % limit);
        values[i] = ids[i];
    }
    return values;
}

static void check_embed(uint32_t dtype, size_t width, size_t count, int64_t offset)
{
    int32_t ids[600];
    double *table = op_fixture_values(1, dtype, TABLE_ROWS * width);
    double *values = numbers(count, TABLE_ROWS - (size_t)offset, ids);
    double *expected = calloc(count * width, sizeof(*expected));
    struct op_fixture fixture = {
        .op = &tapml_embed,
        .output = TAPML_EMBED_Y,
        .arguments = {{.tensor = op_fixture_rows(dtype, TABLE_ROWS, (int64_t)width, table)},
                      {.tensor = op_fixture_row(TAPML_I32, (int64_t)count, values)},
                      {.i64 = offset},
                      {.tensor = op_fixture_rows(TAPML_F32, (int64_t)count, (int64_t)width, NULL)}},
    };
    const struct formulas_embed op = {
        .count = count, .width = width, .table = table, .ids = ids, .offset = offset};

    formulas_embed(&op, expected);
    reference_check(&fixture, 1, expected, 0);

    struct operand_spec *spec = &fixture.arguments[TAPML_EMBED_TABLE].tensor;
    *spec = op_fixture_spread(*spec, 1, 3);
    fixture.arguments[TAPML_EMBED_IDS].tensor.lead = 3;
    spec = &fixture.arguments[TAPML_EMBED_Y].tensor;
    *spec = op_fixture_spread(*spec, 5, 1);
    reference_check(&fixture, 1, expected, 0);
    free(table);
    free(values);
    free(expected);
}

Test(reference_rows, embed_of_every_width_and_dtype)
{
    static const size_t widths[] = {1, 3, 5, 7, 24, 80, 96, 128, 257};
    static const size_t counts[] = {1, 2, 5, 33};
    static const uint32_t dtypes[] = {TAPML_F32, TAPML_F16, TAPML_BF16};

    for (size_t i = 0; i < (size_t)9 * 3; i++) {
        check_embed(dtypes[i % 3], widths[i / 3], counts[i % 4], (int64_t)(i % 2) * 2);
    }
    check_embed(TAPML_BF16, 257, 600, 0); // For several threads.
}

// All numbers of f16, and all of bf16.
Test(reference_rows, embed_widens_exactly)
{
    static const uint32_t dtypes[] = {TAPML_F16, TAPML_BF16};
    const double zero = 0;
    double *expected = calloc(65536, sizeof(*expected));
    double *computed = calloc(65536, sizeof(*computed));

    cr_assert(expected != NULL && computed != NULL);
    for (size_t i = 0; i < 2; i++) {
        struct plugin *plugin = reference_open("f32", 1);
        const struct operand_spec spec = op_fixture_rows(dtypes[i], 1, 65536, NULL);
        const struct operand_spec id_spec = op_fixture_row(TAPML_I32, 1, &zero);
        const struct operand_spec y_spec = op_fixture_rows(TAPML_F32, 1, 65536, NULL);
        struct operand *table = operand_create(plugin, &spec);
        struct operand *ids = operand_create(plugin, &id_spec);
        struct operand *y = operand_create(plugin, &y_spec);
        const tapml_value args[] = {operand_in(table), operand_in(ids), operand_i64(0),
                                    operand_out(y)};
        tapml_call call = {0};

        for (size_t word = 0; word < 65536; word++) {
            table->memory[2 * word] = (unsigned char)(word & 255);
            table->memory[2 * word + 1] = (unsigned char)(word >> 8);
        }
        cr_assert_eq(plugin_apply(plugin, &tapml_embed, args, &call), TAPML_OK);
        operand_read(table, expected); // The harness widens by itself.
        operand_read(y, computed);
        cr_assert_eq(formulas_distance(1, 65536, expected, computed), 0);
        cr_assert_eq(signbit(computed[0x8000]), signbit(-0.0));
        operand_destroy(table);
        operand_destroy(ids);
        operand_destroy(y);
        reference_close(plugin);
    }
    free(expected);
    free(computed);
}

Test(reference_rows, embed_from_panels)
{
    int32_t ids[50];
    double *table = op_fixture_values(1, TAPML_F16, (size_t)TABLE_ROWS * 5);
    double *values = numbers(50, TABLE_ROWS, ids), expected[50 * 5];
    const struct operand_spec panels[] = {
        op_fixture_rows(TAPML_F16, 1, 5, table + (size_t)17 * 5),
        op_fixture_spread(op_fixture_rows(TAPML_F16, 22, 5, table + (size_t)18 * 5), 1, 1),
        {.rank = 0},
    };
    struct op_fixture fixture = {
        .op = &tapml_embed,
        .output = TAPML_EMBED_Y,
        .arguments = {{.tensor = op_fixture_rows(TAPML_F16, 17, 5, table), .panels = panels},
                      {.tensor = op_fixture_row(TAPML_I32, 50, values)},
                      {.i64 = 0},
                      {.tensor = op_fixture_rows(TAPML_F32, 50, 5, NULL)}},
    };
    const struct formulas_embed op = {.count = 50, .width = 5, .table = table, .ids = ids};
    struct plugin *plugin = reference_open(NULL, 1);
    tapml_call call = {0};

    formulas_embed(&op, expected);
    reference_check(&fixture, 1, expected, 0);
    values[4] = TABLE_ROWS;
    op_fixture_fail(&fixture, plugin, TAPML_INVALID, &call);
    cr_assert_str_eq(call.message, "number 4 of 50 asks for row '40', the table has 40 rows");
    reference_close(plugin);
    free(table);
    free(values);
}

Test(reference_rows, numbers_beyond_the_table_fail_with_a_sentence)
{
    static const struct {
        int32_t id;
        int64_t offset;
        const char *message;
    } wrong[] = {
        {4, 0, "number 1 of 3 asks for row '4', the table has 4 rows"},
        {2, 2, "number 1 of 3 asks for row '4', the table has 4 rows"},
        {-1, 0, "number 1 of 3 asks for row '-1', the table has 4 rows"},
        {INT32_MAX, 3, "number 1 of 3 asks for row '2147483650', the table has 4 rows"},
        {INT32_MIN, 0, "number 1 of 3 asks for row '-2147483648', the table has 4 rows"},
        {0, -1, "the offset is '-1', the table has 4 rows"},
        {0, INT64_MAX, "the offset is '9223372036854775807', the table has 4 rows"},
    };
    const double table[4 * 2] = {0};
    struct plugin *plugin = reference_open(NULL, 1);

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const double ids[] = {0, wrong[i].id, 0};
        const struct op_fixture fixture = {
            .op = &tapml_embed,
            .output = TAPML_EMBED_Y,
            .arguments = {{.tensor = op_fixture_rows(TAPML_F32, 4, 2, table)},
                          {.tensor = op_fixture_row(TAPML_I32, 3, ids)},
                          {.i64 = wrong[i].offset},
                          {.tensor = op_fixture_rows(TAPML_F32, 3, 2, NULL)}},
        };
        tapml_call call = {0};

        op_fixture_fail(&fixture, plugin, TAPML_INVALID, &call);
        cr_assert_str_eq(call.message, wrong[i].message);
    }
    reference_close(plugin);
}

Test(reference_rows, gather_rows)
{
    static const size_t widths[] = {1, 7, 24, 257};

    for (size_t i = 0; i < 4; i++) {
        const size_t width = widths[i], count = 1 + i * 11;
        int32_t rows[40];
        double *x = op_fixture_values(1, TAPML_F32, 5 * width), *values = numbers(count, 5, rows);
        double *expected = calloc(count * width, sizeof(*expected));
        struct op_fixture fixture = {
            .op = &tapml_gather_rows,
            .output = TAPML_GATHER_ROWS_Y,
            .arguments = {{.tensor = op_fixture_rows(TAPML_F32, 5, (int64_t)width, x)},
                          {.tensor = op_fixture_row(TAPML_I32, (int64_t)count, values)},
                          {.tensor =
                               op_fixture_rows(TAPML_F32, (int64_t)count, (int64_t)width, NULL)}},
        };

        formulas_gather_rows(count, width, x, rows, expected);
        reference_check(&fixture, 1, expected, 0);
        fixture.arguments[0].tensor = op_fixture_spread(fixture.arguments[0].tensor, 3, 2);
        fixture.arguments[2].tensor = op_fixture_spread(fixture.arguments[2].tensor, 1, 5);
        reference_check(&fixture, 1, expected, 0);

        struct plugin *plugin = reference_open(NULL, 1);
        tapml_call call = {0};

        values[0] = 5;
        op_fixture_fail(&fixture, plugin, TAPML_INVALID, &call);
        cr_assert_not_null(strstr(call.message, "asks for row '5', the table has 5 rows"));
        reference_close(plugin);
        free(x);
        free(values);
        free(expected);
    }
}

// Rows that are not written keep their values, also on f16-rounded: they are f16 to begin with.
Test(reference_rows, state_append)
{
    static const struct {
        size_t tokens, heads, width;
        int64_t position;
    } shapes[] = {{1, 1, 1, 0}, {2, 3, 5, 4}, {5, 2, 24, 11}, {16, 2, 7, 0}, {1, 4, 257, 15}};

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        const size_t row = shapes[i].heads * shapes[i].width;
        const int64_t heads = (int64_t)shapes[i].heads, width = (int64_t)shapes[i].width;
        const int64_t tokens = (int64_t)shapes[i].tokens;
        double *rows = op_fixture_values(1, TAPML_F32, shapes[i].tokens * row);
        double *state = op_fixture_values(2, TAPML_F16, 16 * row);
        double *expected = op_fixture_values(2, TAPML_F16, 16 * row);
        const struct formulas_state_append op = {
            .count = shapes[i].tokens, .width = row, .rows = rows, .position = shapes[i].position};
        struct op_fixture fixture = {
            .op = &tapml_state_append,
            .output = TAPML_STATE_APPEND_STATE,
            .arguments = {{.tensor = op_fixture_heads(TAPML_F32, 16, heads, width, state)},
                          {.tensor = op_fixture_heads(TAPML_F32, tokens, heads, width, rows)},
                          {.i64 = shapes[i].position}},
        };

        formulas_state_append(&op, expected);
        reference_check(&fixture, 1, expected, 0);
        fixture.arguments[0].tensor = op_fixture_spread(fixture.arguments[0].tensor, 3, 2);
        fixture.arguments[1].tensor = op_fixture_spread(fixture.arguments[1].tensor, 1, 5);
        reference_check(&fixture, 1, expected, 0);
        free(rows);
        free(state);
        free(expected);
    }
}

Test(reference_rows, copy_of_any_strides)
{
    static const uint32_t dtypes[] = {TAPML_F32, TAPML_I32};

    for (size_t i = 0; i < 2; i++) {
        double *x = op_fixture_values(1, TAPML_F32, (size_t)4 * 3 * 5);
        struct op_fixture fixture = {
            .op = &tapml_copy,
            .output = TAPML_COPY_Y,
            .arguments = {{.tensor = op_fixture_heads(dtypes[i], 4, 3, 5, x)},
                          {.tensor = op_fixture_spread(op_fixture_heads(dtypes[i], 4, 3, 5, NULL),
                                                       1, 2)}},
        };

        // Integers that f16 has too, as the check of f16-rounded would round them.
        for (size_t value = 0; dtypes[i] == TAPML_I32 && value < (size_t)4 * 3 * 5; value++) {
            x[value] = (double)value - 30;
        }
        reference_check(&fixture, 1, x, 0);

        // The last axis first.
        fixture.arguments[0].tensor.strided = true;
        fixture.arguments[0].tensor.lead = 3;
        fixture.arguments[0].tensor.stride[0] = 1;
        fixture.arguments[0].tensor.stride[1] = 4;
        fixture.arguments[0].tensor.stride[2] = 12;
        reference_check(&fixture, 1, x, 0);

        // One value for each row.
        for (size_t value = 0; value < (size_t)4 * 3 * 5; value++) {
            x[value] = x[value / 5 * 5];
        }
        fixture.arguments[0].tensor.stride[0] = 7;
        fixture.arguments[0].tensor.stride[1] = 2;
        fixture.arguments[0].tensor.stride[2] = 0;
        reference_check(&fixture, 1, x, 0);
        free(x);
    }
}

// f16-rounded rounds what is written, and nothing beside it; integers pass.
Test(reference_rows, rounding_touches_only_what_is_written)
{
    struct plugin *plugin = reference_open("f16-rounded", 1);
    const double rows[] = {1.0001, 65519, 65520, 0x1.8p-25, -0x1p-25, 1e-30};
    const double state[] = {0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
    const double expected[] = {0.1f, 1, 65504, INFINITY, 0x1p-24, 0, 0, 0.1f};
    const double large = 1234567;
    double y[8];
    const struct op_fixture append = {
        .op = &tapml_state_append,
        .output = TAPML_STATE_APPEND_STATE,
        .arguments = {{.tensor = op_fixture_heads(TAPML_F32, 8, 1, 1, state)},
                      {.tensor = op_fixture_heads(TAPML_F32, 6, 1, 1, rows)},
                      {.i64 = 1}},
    };
    const struct op_fixture copy = {
        .op = &tapml_copy,
        .output = TAPML_COPY_Y,
        .arguments = {{.tensor = op_fixture_row(TAPML_I32, 1, &large)},
                      {.tensor = op_fixture_row(TAPML_I32, 1, NULL)}},
    };

    op_fixture_run(&append, plugin, y);
    cr_assert_eq(formulas_distance(8, 1, expected, y), 0);
    op_fixture_run(&copy, plugin, y);
    cr_assert_eq(y[0], large);
    reference_close(plugin);
}

// The right operand has one row that three heads share, or rows of its own; y has gaps.
Test(reference_rows, concat_of_views)
{
    enum { TOKENS = 4, HEADS = 3, LEFT = 5, RIGHT = 2, ROWS = TOKENS * HEADS };
    double *a = op_fixture_values(1, TAPML_F32, (size_t)ROWS * LEFT);
    double *b = op_fixture_values(2, TAPML_F32, (size_t)ROWS * RIGHT);

    for (int is_shared = 0; is_shared < 2; is_shared++) {
        double *expected = calloc((size_t)ROWS * (LEFT + RIGHT), sizeof(*expected));
        struct operand_spec right = op_fixture_heads(TAPML_F32, TOKENS, HEADS, RIGHT, b);

        cr_assert_not_null(expected);
        right.strided = is_shared != 0;
        right.stride[0] = RIGHT;
        right.stride[2] = 1;
        for (size_t r = 0; is_shared && r < ROWS; r++) {
            memmove(b + r * RIGHT, b + r / HEADS * RIGHT, RIGHT * sizeof(*b));
        }

        const struct op_fixture fixture = {
            .op = &tapml_concat,
            .output = TAPML_CONCAT_Y,
            .arguments = {{.tensor = op_fixture_spread(
                               op_fixture_heads(TAPML_F32, TOKENS, HEADS, LEFT, a), 3, 2)},
                          {.tensor = right},
                          {.tensor = op_fixture_spread(
                               op_fixture_heads(TAPML_F32, TOKENS, HEADS, LEFT + RIGHT, NULL), 1,
                               3)}},
        };

        formulas_concat(ROWS, LEFT, RIGHT, a, b, expected);
        reference_check(&fixture, ROWS, expected, 0);
        free(expected);
    }
    free(a);
    free(b);
}
