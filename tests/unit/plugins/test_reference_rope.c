// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/formulas.h"
#include "plugins/reference.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdlib.h>

struct rope {
    struct formulas_rope op;
    double *x, *cos, *sin, *expected;
    struct op_fixture fixture;
};

static void rope_init(struct rope *rope)
{
    struct formulas_rope *op = &rope->op;
    const int64_t tokens = (int64_t)op->tokens, heads = (int64_t)op->heads;
    const int64_t width = (int64_t)op->width, half = (int64_t)op->half;
    struct op_fixture_argument *arguments = rope->fixture.arguments;

    // Any tables will do: the op does not ask where they come from.
    rope->x = op_fixture_values(1, TAPML_F32, op->tokens * op->heads * op->width);
    rope->cos = op_fixture_values(2, TAPML_F32, op->tokens * op->half);
    rope->sin = op_fixture_values(3, TAPML_F32, op->tokens * op->half);
    rope->expected = calloc(op->tokens * op->heads * op->width, sizeof(double));
    cr_assert_not_null(rope->expected);
    op->x = rope->x;
    op->cos = rope->cos;
    op->sin = rope->sin;
    formulas_rope(op, rope->expected);
    rope->fixture.op = &tapml_rope;
    rope->fixture.output = TAPML_ROPE_Y;
    arguments[TAPML_ROPE_X].tensor = op_fixture_heads(TAPML_F32, tokens, heads, width, rope->x);
    arguments[TAPML_ROPE_COS].tensor = op_fixture_rows(TAPML_F32, tokens, half, rope->cos);
    arguments[TAPML_ROPE_SIN].tensor = op_fixture_rows(TAPML_F32, tokens, half, rope->sin);
    arguments[TAPML_ROPE_INTERLEAVED].i64 = op->interleaved;
    arguments[TAPML_ROPE_Y].tensor = op_fixture_heads(TAPML_F32, tokens, heads, width, NULL);
}

static void rope_check(struct rope *rope)
{
    reference_check(&rope->fixture, 1, rope->expected, 5e-6);
    free(rope->x);
    free(rope->cos);
    free(rope->sin);
    free(rope->expected);
}

Test(reference_rope, whole_and_partial_heads_both_manners)
{
    static const struct {
        size_t tokens, heads, width, half;
    } shapes[] = {
        {1, 1, 2, 1},     {2, 3, 24, 12}, {5, 2, 7, 3},
        {33, 8, 128, 64}, {5, 1, 80, 16}, {2, 5, 257, 1},
    };

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]) * 2; i++) {
        struct rope rope = {.op = {
                                .tokens = shapes[i / 2].tokens,
                                .heads = shapes[i / 2].heads,
                                .width = shapes[i / 2].width,
                                .half = shapes[i / 2].half,
                                .interleaved = (int)(i % 2),
                            }};

        rope_init(&rope);
        rope_check(&rope);
    }
}

Test(reference_rope, rows_may_lie_anywhere)
{
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        struct rope rope = {
            .op = {.tokens = 5, .heads = 3, .width = 24, .half = 8, .interleaved = interleaved}};
        struct op_fixture_argument *arguments = rope.fixture.arguments;

        rope_init(&rope);
        for (uint32_t i = 0; i < tapml_rope.n_params; i++) {
            if (arguments[i].tensor.rank > 0) {
                arguments[i].tensor = op_fixture_spread(arguments[i].tensor, i + 1, (int64_t)i + 1);
            }
        }
        rope_check(&rope);
    }
}

Test(reference_rope, pairs_beyond_the_head_are_refused_with_a_reason)
{
    struct rope rope = {.op = {.tokens = 1, .heads = 1, .width = 24, .half = 12}};
    struct plugin *plugin = reference_open(NULL, 1);

    rope_init(&rope);
    rope.fixture.arguments[TAPML_ROPE_X].tensor.shape[2] = 23;

    const tapml_support support = op_fixture_supports(&rope.fixture, plugin);

    cr_assert_eq(support.grade, TAPML_SUPPORT_NO);
    cr_assert_str_eq(support.reason, "12 pairs do not fit into heads of 23 values");
    reference_close(plugin);
    rope.fixture.arguments[TAPML_ROPE_X].tensor.shape[2] = 24;
    rope_check(&rope);
}
