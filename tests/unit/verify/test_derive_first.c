// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/schemas.h"
#include "verify/derive.h"
#include "verify/derive_first.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static struct arena *arena;

static void begin(void)
{
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(derive_first, .init = begin, .fini = end);

static struct carved_case make(const tapml_op *op)
{
    struct carved_case made = {.argument_count = 0};
    cr_assert_eq(derive_first_make(schema_of(op), arena, &made), TAPML_OK, "%s: %s", op->name,
                 status_message());
    return made;
}

Test(derive_first, a_norm_has_rows_a_weight_and_an_epsilon_of_its_domain)
{
    const struct carved_case made = make(&tapml_rms_norm);
    const struct case_argument *x = &made.arguments[TAPML_RMS_NORM_X];
    cr_expect_eq(x->rank, 2u);
    cr_expect_eq(x->shape[0], DERIVE_FIRST_EXTENT);
    cr_expect_eq(x->shape[1], DERIVE_FIRST_EXTENT);
    cr_expect_eq(x->dtype, TAPML_F32);
    cr_expect_neq(((const float *)x->before)[0], 0);
    cr_expect_neq(((const float *)x->before)[0], ((const float *)x->before)[1]);
    cr_expect_eq(made.arguments[TAPML_RMS_NORM_WEIGHT].kind, TAPML_P_TENSOR_IN, "it is optional");
    cr_expect_float_eq(made.arguments[TAPML_RMS_NORM_EPS].d, 0.75, 0);
    cr_expect_float_eq(made.arguments[TAPML_RMS_NORM_OFFSET].d, 0, 0, "the first choice");
    cr_expect_not_null(made.arguments[TAPML_RMS_NORM_Y].after);
    cr_expect_null(made.arguments[TAPML_RMS_NORM_Y].before);
    cr_expect_not(made.is_derived);
    cr_expect_str_eq(made.op_name, "tapml.rms_norm");
}

Test(derive_first, rows_go_to_the_begin_of_a_state)
{
    const struct carved_case made = make(&tapml_state_append);
    for (uint32_t i = 0; i < made.argument_count; i++) {
        const struct case_argument *argument = &made.arguments[i];
        if (case_is_state(argument)) {
            cr_expect_eq(argument->region_begin, 0);
            cr_expect_eq(argument->region_end, DERIVE_FIRST_EXTENT);
            cr_expect_eq(argument->kept_end, argument->shape[0]);
        }
    }
}

Test(derive_first, whole_numbers_choose_from_a_list_of_tensors)
{
    const struct carved_case made = make(&tapml_linear_experts);
    const struct case_argument *weights = &made.arguments[TAPML_LINEAR_EXPERTS_W];
    const struct case_argument *indices = &made.arguments[TAPML_LINEAR_EXPERTS_INDICES];
    const float *values = weights->before;
    int is_chosen[DERIVE_FIRST_LIST] = {0};
    cr_assert_eq(weights->kind, TAPML_P_TENSORS_IN);
    cr_expect_eq(weights->rank, 3u);
    cr_expect_eq(weights->shape[0], DERIVE_FIRST_LIST);
    cr_expect_eq(weights->shape[1], DERIVE_FIRST_EXTENT);
    cr_expect_neq(values[0], values[DERIVE_FIRST_EXTENT * DERIVE_FIRST_EXTENT]);
    for (int i = 0; i < DERIVE_FIRST_EXTENT * DERIVE_FIRST_EXTENT; i++) {
        const int32_t index = ((const int32_t *)indices->before)[i];
        cr_assert(index >= 0 && index < DERIVE_FIRST_LIST, "%d", index);
        is_chosen[index] = 1;
    }
    cr_expect(is_chosen[0] && is_chosen[1]);
}

// A product whose weight, or each of whose weights, is in blocks.
static struct carved_case make_encoded(const tapml_op *plain, uint32_t weight)
{
    static tapml_op op;
    static tapml_param param;
    static const tapml_param *params[16];
    cr_assert_leq(plain->n_params, 16);
    memcpy(params, plain->params, plain->n_params * sizeof(*params));
    param = *plain->params[weight];
    param.dtype = "encoded";
    params[weight] = &param;
    op = *plain;
    op.params = params;
    return make(&op);
}

static void has_block_rows(const struct case_argument *w, uint32_t rank)
{
    cr_assert_not_null(w->encoding);
    cr_expect_eq(w->dtype, TAPML_U8);
    cr_assert_eq(w->rank, rank);
    cr_expect_eq(w->shape[rank - 1] % w->encoding->block_values, 0);
    cr_assert_eq(case_check_argument(w), TAPML_OK, "%s", status_message());
}

Test(derive_first, what_has_to_be_encoded_is_whole_blocks)
{
    const struct carved_case made = make_encoded(&tapml_linear, TAPML_LINEAR_W);
    struct derive_recipe recipes[DERIVE_RECIPES_MAX];
    struct carved_case neighbour;
    uint32_t recipe_count = 0;
    has_block_rows(&made.arguments[TAPML_LINEAR_W], 2);
    cr_expect_eq(made.arguments[TAPML_LINEAR_X].shape[1], 32);
    cr_assert_eq(derive_list(&made, schema_of(&tapml_linear), recipes, &recipe_count), TAPML_OK);
    for (uint32_t i = 0; i < recipe_count; i++) {
        cr_assert_eq(derive_make(&made, schema_of(&tapml_linear), &recipes[i], arena, &neighbour),
                     TAPML_OK, "%s: %s", recipes[i].label, status_message());
        has_block_rows(&neighbour.arguments[TAPML_LINEAR_W], 2);
    }
}

Test(derive_first, each_of_a_list_is_encoded)
{
    const struct carved_case made = make_encoded(&tapml_linear_experts, TAPML_LINEAR_EXPERTS_W);
    const struct case_argument *weights = &made.arguments[TAPML_LINEAR_EXPERTS_W];
    has_block_rows(weights, 3);
    const uint64_t half = weights->content_bytes / DERIVE_FIRST_LIST;
    cr_expect_neq(memcmp(weights->before, (const char *)weights->before + half, half), 0);
}

// What is made is a call of its op, around which there are others.
Test(derive_first, cases_are_made_of_most_schemas)
{
    size_t made_count = 0, count = 0;
    for (; tapml_ops[count]; count++) {
        struct derive_recipe recipes[DERIVE_RECIPES_MAX];
        struct carved_case made, again, neighbour;
        uint32_t recipe_count = 0;
        const struct compiled_op *schema = schema_of(tapml_ops[count]);
        const tapml_status status = derive_first_make(schema, arena, &made);
        cr_expect(status == TAPML_OK || status == TAPML_UNIMPLEMENTED || status == TAPML_INVALID,
                  "%s: %s", tapml_ops[count]->name, status_message());
        if (status != TAPML_OK) {
            continue;
        }
        made_count++;
        cr_assert_eq(derive_first_make(schema, arena, &again), TAPML_OK);
        cr_assert_eq(derive_list(&made, schema, recipes, &recipe_count), TAPML_OK, "%s: %s",
                     tapml_ops[count]->name, status_message());
        cr_assert_gt(recipe_count, 0);
        cr_expect_eq(derive_make(&made, schema, &recipes[0], arena, &neighbour), TAPML_OK, "%s",
                     status_message());
        for (uint32_t i = 0; i < made.argument_count; i++) {
            const struct case_argument *argument = &made.arguments[i];
            cr_expect(!argument->before || memcmp(argument->before, again.arguments[i].before,
                                                  argument->content_bytes) == 0);
        }
    }
    cr_expect_geq(made_count, count * 3 / 4, "%zu of %zu", made_count, count);
}
