// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/schemas.h"
#include "verify/derive_first.h"
#include "verify/split_case.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

enum { EXTENT = DERIVE_FIRST_EXTENT, HALF = EXTENT / 2 };

static struct arena *arena;
static struct carved_case item;
static struct split_case split;

static void begin(void)
{
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(split_case, .init = begin, .fini = end);

static void open_first(const tapml_op *op, uint32_t rule)
{
    const struct compiled_op *schema = schema_of(op);
    const char *reason = NULL;
    cr_assert_eq(derive_first_make(schema, arena, &item), TAPML_OK, "%s", status_message());
    cr_assert_lt(rule, schema->split_count);
    cr_assert_eq(split_case_open(&item, schema, &schema->splits[rule], &split, &reason), TAPML_OK);
    cr_assert_null(reason, "%s", reason);
}

static struct carved_case part_of(uint32_t part)
{
    struct carved_case made;
    cr_assert_eq(split_case_part(&split, part, arena, &made), TAPML_OK, "%s", status_message());
    return made;
}

Test(split_case, rows_of_a_weight_and_its_bias_are_cut_together)
{
    open_first(&tapml_linear, 0);
    const struct carved_case second = part_of(1);
    const struct case_argument *w = &second.arguments[TAPML_LINEAR_W];
    cr_expect_eq(w->shape[0], HALF);
    cr_expect_eq(w->shape[1], EXTENT);
    cr_expect_arr_eq(w->before,
                     (const float *)item.arguments[TAPML_LINEAR_W].before + HALF * EXTENT,
                     HALF * EXTENT * sizeof(float));
    cr_expect_eq(second.arguments[TAPML_LINEAR_B].shape[0], HALF);
    cr_expect_eq(second.arguments[TAPML_LINEAR_X].before, item.arguments[TAPML_LINEAR_X].before,
                 "it goes whole to each part");
    cr_expect_eq(second.is_derived, 1);
}

Test(split_case, a_bias_is_added_once)
{
    open_first(&tapml_linear, 1);
    const struct carved_case first = part_of(0), second = part_of(1);
    cr_expect_eq(first.arguments[TAPML_LINEAR_B].kind, TAPML_P_TENSOR_IN);
    cr_expect_eq(second.arguments[TAPML_LINEAR_B].kind, TAPML_V_NONE);
    const float *whole = item.arguments[TAPML_LINEAR_W].before;
    const float *columns = second.arguments[TAPML_LINEAR_W].before;
    cr_expect_eq(second.arguments[TAPML_LINEAR_W].shape[1], HALF);
    cr_expect_eq(columns[0], whole[HALF]);
    cr_expect_eq(columns[HALF], whole[EXTENT + HALF]);
}

Test(split_case, states_are_cut_by_heads)
{
    open_first(&tapml_attention, 0);
    const struct carved_case first = part_of(0);
    const struct case_argument *state = &first.arguments[TAPML_ATTENTION_K_STATE];
    const struct case_argument *whole = &item.arguments[TAPML_ATTENTION_K_STATE];
    cr_expect_eq(state->shape[0], whole->shape[0]);
    cr_expect_eq(state->shape[1], HALF);
    cr_expect_eq(state->kept_end, whole->kept_end);
    const float *cut = state->before, *all = whole->before;
    cr_expect_arr_eq(cut + HALF * EXTENT, all + EXTENT * EXTENT, HALF * EXTENT * sizeof(float),
                     "the second row");
}

static struct replay_output
output_of(const char *param, const float *values, size_t rows, size_t width)
{
    return (struct replay_output){.param = param,
                                  .dtype = TAPML_F32,
                                  .expected = values,
                                  .computed = values,
                                  .rows = rows,
                                  .width = width};
}

Test(split_case, parts_lie_one_behind_the_other_or_are_added_up)
{
    static float ones[EXTENT * EXTENT], twos[EXTENT * EXTENT];
    struct replay_output joined;
    for (size_t i = 0; i < EXTENT * EXTENT; i++) {
        ones[i] = 1;
        twos[i] = 2;
    }
    const struct replay_output whole = output_of("y", ones, EXTENT, EXTENT);
    open_first(&tapml_linear, 0);
    const struct replay_output halves[] = {output_of("y", ones, EXTENT, HALF),
                                           output_of("y", twos, EXTENT, HALF)};
    cr_assert_eq(split_case_join(&split, &whole, halves, arena, &joined), TAPML_OK);
    const float *row = (const float *)joined.computed + EXTENT;
    cr_expect_eq(row[HALF - 1], 1);
    cr_expect_eq(row[HALF], 2);
    open_first(&tapml_linear, 1);
    const struct replay_output summands[] = {whole, output_of("y", twos, EXTENT, EXTENT)};
    cr_assert_eq(split_case_join(&split, &whole, summands, arena, &joined), TAPML_OK);
    cr_expect_eq(((const float *)joined.expected)[EXTENT * EXTENT - 1], 3);
}

Test(split_case, what_has_one_unit_is_not_cut)
{
    const struct compiled_op *schema = schema_of(&tapml_silu);
    const char *reason = NULL;
    cr_assert_eq(derive_first_make(schema, arena, &item), TAPML_OK);
    for (uint32_t i = 0; i < item.argument_count; i++) {
        item.arguments[i].shape[0] = 1;
    }
    cr_assert_eq(split_case_open(&item, schema, &schema->splits[0], &split, &reason), TAPML_OK);
    cr_expect_str_eq(reason, "its cases have nothing to be cut in two");
}
