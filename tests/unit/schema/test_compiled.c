// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "schema/compiled.h"
#include "stranger.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

// Two compiled versions of one op: `changed` is changed by the test before it is compiled.
struct pair {
    struct arena *arena;
    struct stranger plain, changed;
    const struct compiled_op *ours, *theirs;
};

static void pair_init(struct pair *pair)
{
    pair->arena = arena_create();
    stranger_init(&pair->plain);
    stranger_init(&pair->changed);
    pair->plain.factor.domain = "0 | 1 | 2";
    pair->changed.factor.domain = "0 | 1 | 2";
    cr_assert_eq(compiled_create(&pair->plain.op, pair->arena, &pair->ours), TAPML_OK);
}

static tapml_status pair_compare(struct pair *pair)
{
    const tapml_status status = compiled_create(&pair->changed.op, pair->arena, &pair->theirs);

    cr_assert_eq(status, TAPML_OK, "%s", status_message());
    return compiled_same(pair->ours, pair->theirs);
}

static void pair_release(struct pair *pair)
{
    arena_destroy(pair->arena);
}

static void expect_same(struct pair *pair, uint32_t lacks)
{
    cr_assert_eq(pair_compare(pair), TAPML_OK, "%s", status_message());
    cr_assert(hash_equal(pair->ours->fingerprint, pair->theirs->fingerprint));
    cr_assert_eq(compiled_lacks(pair->ours, pair->theirs), lacks);
    pair_release(pair);
    pair_init(pair);
}

static void expect_other(struct pair *pair, const char *piece)
{
    cr_assert_eq(pair_compare(pair), TAPML_ABI_MISMATCH);
    cr_assert_not_null(strstr(status_message(), piece), "'%s' is not in '%s'", piece,
                       status_message());
    pair_release(pair);
    pair_init(pair);
}

Test(compiled, what_a_parameter_is)
{
    struct pair pair;

    pair_init(&pair);
    const struct compiled_param *x = &pair.ours->params[0];
    const struct compiled_param *factor = &pair.ours->params[1];
    const struct compiled_param *y = &pair.ours->params[2];

    cr_assert(x->is_tensor && y->is_tensor && !factor->is_tensor);
    cr_assert_eq(x->dtype_count, 2);
    cr_assert_eq(x->layout, LAYOUT_ROWS);
    cr_assert_not_null(x->shape);
    cr_assert_eq(y->shape_like, 0);
    cr_assert_eq(y->dtype_like, 0);
    cr_assert_null(y->shape);
    cr_assert_eq(factor->choice_count, 3);
    cr_assert(compiled_takes(pair.ours, 2, TAPML_F16), "of the type of x");
    cr_assert_not(compiled_takes(pair.ours, 0, TAPML_BF16));
    cr_assert_not(x->takes_encoded);
    pair_release(&pair);
}

Test(compiled, every_op_of_the_catalogue)
{
    struct arena *arena = arena_create();

    for (size_t i = 0; tapml_ops[i]; i++) {
        const struct compiled_op *schema = NULL;

        cr_assert_eq(compiled_create(tapml_ops[i], arena, &schema), TAPML_OK, "%s: %s",
                     tapml_ops[i]->name, status_message());
        cr_assert_eq(compiled_lacks(schema, schema), 0);
        for (uint32_t p = 0; p < tapml_ops[i]->n_params; p++) {
            const char *domain = tapml_ops[i]->params[p]->domain;
            const struct compiled_param *param = &schema->params[p];

            cr_assert(!domain || param->domain || param->choice_count > 0, "%s", domain);
        }
    }
    arena_destroy(arena);
}

Test(compiled, texts_costs_and_limits_may_differ)
{
    struct pair pair;

    pair_init(&pair);
    pair.changed.op.title = "another";
    pair.changed.op.formula = "y = x";
    pair.changed.op.flops = "2 * rows";
    pair.changed.op.tolerance = "exact";
    expect_same(&pair, 0);
    pair_release(&pair);
}

Test(compiled, lists_may_be_shorter_or_longer)
{
    struct pair pair;

    pair_init(&pair);
    pair.changed.x.dtype = "f16";
    expect_same(&pair, 1);
    pair.changed.x.dtype = "bf16 f16 f32 encoded";
    expect_same(&pair, 0);
    pair.changed.x.dtype = "f16 f32";
    expect_same(&pair, 0);
    pair.changed.x.dtype = "f32 bf16";
    expect_other(&pair, "parameter 1, 'x': dtype is 'f32 bf16', expected 'f32 f16'");
    pair.changed.factor.domain = "1 | 0";
    expect_same(&pair, 2);
    pair.changed.factor.domain = "0 | 1 | 2 | 3";
    expect_same(&pair, 0);
    pair.changed.factor.domain = NULL;
    expect_same(&pair, 0);
    pair.changed.factor.domain = "0 | 3";
    expect_other(&pair, "parameter 2, 'factor': domain is '0 | 3', expected '0 | 1 | 2'");
    pair_release(&pair);
}

Test(compiled, ranges_may_be_smaller_or_larger)
{
    struct pair pair;

    pair_init(&pair);
    pair.plain.factor.domain = "0 .. 8";
    cr_assert_eq(compiled_create(&pair.plain.op, pair.arena, &pair.ours), TAPML_OK);
    pair.changed.factor.domain = "0 .. 4";
    cr_assert_eq(pair_compare(&pair), TAPML_OK, "%s", status_message());
    cr_assert_eq(compiled_lacks(pair.ours, pair.theirs), 2);
    cr_assert_eq(compiled_lacks(pair.theirs, pair.ours), 0);
    pair.changed.factor.domain = "4 .. 12";
    cr_assert_eq(pair_compare(&pair), TAPML_ABI_MISMATCH);
    pair.changed.factor.domain = "0 .. rows";
    cr_assert_eq(pair_compare(&pair), TAPML_ABI_MISMATCH);
    pair_release(&pair);
}

Test(compiled, what_makes_another_op)
{
    struct pair pair;

    pair_init(&pair);
    pair.changed.factor.kind = TAPML_P_I64;
    expect_other(&pair, "kind is 5, expected 6");
    pair.changed.x.name = "z";
    pair.changed.y.dtype = pair.changed.y.shape = "z";
    expect_other(&pair, "name is 'z', expected 'x'");
    pair.changed.x.effects = TAPML_E_OPTIONAL;
    expect_other(&pair, "effects are 0x1, expected 0x0");
    pair.changed.y.layout = "dense";
    expect_other(&pair, "layout is 'dense', expected 'rows'");
    pair.changed.x.shape = "*rows, in";
    expect_other(&pair, "shape is '*rows, in', expected '*rows, width'");
    pair.changed.op.n_params = 2;
    pair.changed.params[1] = &pair.changed.y;
    expect_other(&pair, "2 parameters, expected 3");
    pair.changed.op.version = 2;
    expect_other(&pair, "version is 2, expected 1");
    pair_release(&pair);
}

Test(compiled, memory_may_run_out_anywhere)
{
    const size_t live = alloc_live();

    for (size_t n = 1; n < 10; n++) {
        const struct compiled_op *schema = NULL;
        struct arena *arena = NULL;
        tapml_status status = TAPML_NO_MEMORY;

        alloc_fail_at(n);
        arena = arena_create();
        if (arena != NULL) {
            status = compiled_create(&tapml_attention, arena, &schema);
        }
        alloc_fail_at(0);
        cr_assert(status == TAPML_OK || status == TAPML_NO_MEMORY);
        arena_destroy(arena);
        cr_assert_eq(alloc_live(), live);
    }
}
