// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/formulas.h"
#include "plugins/reference.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// An attention of dense tensors over states of `capacity` rows; a test changes what it is about.
struct attention {
    struct formulas_attention op; // Sizes and attributes; `attention_init` fills in the values.
    size_t capacity;
    bool has_slopes, has_sinks;
    uint32_t sinks_dtype;
    const int32_t *key_mask;
    double *q, *k, *v, *slopes, *sinks, *mask, *expected;
    struct op_fixture fixture;
};

static size_t length_of(const struct attention *attention)
{
    return (size_t)attention->op.position + attention->op.tokens;
}

// State rows that are not there yet hold what must not be felt.
static double *state_values(const struct attention *attention, uint64_t seed, size_t width)
{
    const size_t row = attention->op.hk * width;
    double *values = op_fixture_values(seed, TAPML_F32, attention->capacity * row);

    for (size_t i = length_of(attention) * row; i < attention->capacity * row; i++) {
        values[i] = NAN;
    }
    return values;
}

static void fill_values(struct attention *attention)
{
    struct formulas_attention *op = &attention->op;

    attention->q = op_fixture_values(1, TAPML_F32, op->tokens * op->hq * op->dk);
    attention->k = state_values(attention, 2, op->dk);
    attention->v = state_values(attention, 3, op->dv);
    attention->slopes = op_fixture_values(4, TAPML_F32, op->hq);
    attention->sinks = op_fixture_values(5, attention->sinks_dtype, op->hq);
    attention->mask = calloc(length_of(attention), sizeof(double));
    attention->expected = calloc(op->tokens * op->hq * op->dv, sizeof(double));
    cr_assert(attention->mask != NULL && attention->expected != NULL);
    for (size_t s = 0; attention->key_mask != NULL && s < length_of(attention); s++) {
        attention->mask[s] = attention->key_mask[s];
    }
    op->q = attention->q;
    op->k_state = attention->k;
    op->v_state = attention->v;
    op->slopes = attention->has_slopes ? attention->slopes : NULL;
    op->sinks = attention->has_sinks ? attention->sinks : NULL;
    op->key_mask = attention->key_mask;
}

static void fill_attributes(struct attention *attention)
{
    const struct formulas_attention *op = &attention->op;
    struct op_fixture_argument *arguments = attention->fixture.arguments;

    arguments[TAPML_ATTENTION_POSITION].i64 = op->position;
    arguments[TAPML_ATTENTION_SCALE].f64 = op->scale;
    arguments[TAPML_ATTENTION_CAUSAL].i64 = op->causal;
    arguments[TAPML_ATTENTION_WINDOW].i64 = op->window;
    arguments[TAPML_ATTENTION_CHUNK].i64 = op->chunk;
    arguments[TAPML_ATTENTION_SOFTCAP].f64 = op->softcap;
    arguments[TAPML_ATTENTION_ALIBI_BF16].i64 = op->alibi_bf16;
}

static void attention_init(struct attention *attention)
{
    const struct formulas_attention *op = &attention->op;
    const int64_t capacity = (int64_t)attention->capacity, tokens = (int64_t)op->tokens;
    const int64_t hq = (int64_t)op->hq, hk = (int64_t)op->hk;
    const int64_t dk = (int64_t)op->dk, dv = (int64_t)op->dv;
    struct op_fixture_argument *arguments = attention->fixture.arguments;

    fill_values(attention);
    fill_attributes(attention);
    attention->fixture.op = &tapml_attention;
    attention->fixture.output = TAPML_ATTENTION_Y;
    arguments[TAPML_ATTENTION_Q].tensor = op_fixture_heads(TAPML_F32, tokens, hq, dk, attention->q);
    arguments[TAPML_ATTENTION_K_STATE].tensor =
        op_fixture_heads(TAPML_F32, capacity, hk, dk, attention->k);
    arguments[TAPML_ATTENTION_V_STATE].tensor =
        op_fixture_heads(TAPML_F32, capacity, hk, dv, attention->v);
    if (attention->has_slopes) {
        arguments[TAPML_ATTENTION_SLOPES].tensor = op_fixture_row(TAPML_F32, hq, attention->slopes);
    }
    if (attention->has_sinks) {
        arguments[TAPML_ATTENTION_SINKS].tensor =
            op_fixture_row(attention->sinks_dtype, hq, attention->sinks);
    }
    if (attention->key_mask != NULL) {
        arguments[TAPML_ATTENTION_KEY_MASK].tensor =
            op_fixture_row(TAPML_I32, (int64_t)length_of(attention), attention->mask);
    }
    arguments[TAPML_ATTENTION_Y].tensor = op_fixture_heads(TAPML_F32, tokens, hq, dv, NULL);
}

static void attention_release(struct attention *attention)
{
    free(attention->q);
    free(attention->k);
    free(attention->v);
    free(attention->slopes);
    free(attention->sinks);
    free(attention->mask);
    free(attention->expected);
}

static void attention_check(struct attention *attention)
{
    formulas_attention(&attention->op, attention->expected);
    reference_check(&attention->fixture, attention->op.tokens, attention->expected, 1e-4);
    attention_release(attention);
}

// Grouped heads, k and v of different widths, two full tiles of queries, three pieces of keys.
static struct attention ordinary(void)
{
    return (struct attention){
        .op =
            {
                .tokens = 11,
                .hq = 6,
                .hk = 2,
                .dk = 24,
                .dv = 7,
                .position = 127,
                .scale = 0.2,
                .causal = 1,
            },
        .capacity = 150,
        .sinks_dtype = TAPML_F32,
    };
}

static void check_ordinary(struct attention attention)
{
    attention_init(&attention);
    attention_check(&attention);
}

Test(reference_attention, every_shape)
{
    static const struct {
        size_t tokens, hq, hk, dk, dv;
        int64_t position;
    } shapes[] = {
        {1, 1, 1, 1, 1, 0},     {1, 4, 2, 24, 24, 9},    {2, 3, 3, 7, 5, 0},
        {5, 8, 2, 80, 96, 3},   {33, 4, 1, 128, 128, 0}, {3, 2, 2, 257, 257, 61},
        {1, 6, 3, 3, 130, 300}, {33, 5, 5, 5, 3, 31},
    };

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct attention attention = ordinary();

        attention.op.tokens = shapes[i].tokens;
        attention.op.hq = shapes[i].hq;
        attention.op.hk = shapes[i].hk;
        attention.op.dk = shapes[i].dk;
        attention.op.dv = shapes[i].dv;
        attention.op.position = shapes[i].position;
        attention.op.scale = 1 / sqrt((double)shapes[i].dk);
        attention.capacity = (size_t)shapes[i].position + shapes[i].tokens + i % 2 * 5;
        check_ordinary(attention);
    }
}

Test(reference_attention, causal_and_not)
{
    struct attention attention = ordinary();

    check_ordinary(attention);
    attention.op.causal = 0;
    check_ordinary(attention);
}

Test(reference_attention, windows)
{
    static const int64_t windows[] = {1, 2, 10, 64, 127, 128, 1000};

    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]) * 2; i++) {
        struct attention attention = ordinary();

        attention.op.window = windows[i / 2];
        attention.op.causal = (int64_t)(i % 2);
        check_ordinary(attention);
    }
}

Test(reference_attention, chunks)
{
    static const int64_t chunks[] = {1, 3, 64, 128, 130, 1000};

    for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]) * 4; i++) {
        struct attention attention = ordinary();

        attention.op.chunk = chunks[i / 4];
        attention.op.causal = (int64_t)(i % 2);
        attention.op.window = i / 2 % 2 != 0 ? 5 : 0;
        check_ordinary(attention);
    }
}

Test(reference_attention, softcap_and_slopes_in_both_manners)
{
    for (size_t i = 0; i < 8; i++) {
        struct attention attention = ordinary();

        attention.op.softcap = i % 2 != 0 ? 0.75 : 0;
        attention.op.alibi_bf16 = (int64_t)(i / 2 % 2);
        attention.has_slopes = i >= 4;
        check_ordinary(attention);
    }
}

Test(reference_attention, sinks_of_every_dtype)
{
    static const uint32_t dtypes[] = {TAPML_F32, TAPML_F16, TAPML_BF16};

    for (size_t i = 0; i < 3; i++) {
        struct attention attention = ordinary();

        attention.has_sinks = true;
        attention.sinks_dtype = dtypes[i];
        check_ordinary(attention);
    }
}

Test(reference_attention, all_options_at_once)
{
    struct attention attention = ordinary();
    int32_t mask[138];

    for (size_t s = 0; s < 138; s++) {
        mask[s] = s % 3 == 0 ? 0 : (int32_t)s - 60; // Anything but 0 is visible.
    }
    attention.op.window = 30;
    attention.op.chunk = 16;
    attention.op.softcap = 2;
    attention.has_slopes = true;
    attention.has_sinks = true;
    attention.key_mask = mask;
    check_ordinary(attention);
}

Test(reference_attention, a_query_that_sees_nothing_gives_zeros)
{
    for (int sinks = 0; sinks < 2; sinks++) {
        struct attention attention = ordinary();
        int32_t mask[138] = {0};

        for (size_t s = 0; s < 130; s++) {
            mask[s] = 1;
        }
        attention.op.window = 3; // The queries at 132 and behind see masked keys only.
        attention.has_sinks = sinks != 0;
        attention.key_mask = mask;
        attention_init(&attention);
        formulas_attention(&attention.op, attention.expected);
        cr_assert_eq(attention.expected[(size_t)6 * 6 * 7], 0);
        cr_assert_neq(attention.expected[(size_t)3 * 6 * 7], 0);
        attention_check(&attention);
    }
}

// The last row of the state is seen by the last query alone, a masked one by nobody.
Test(reference_attention, what_is_not_seen_may_be_anything)
{
    struct attention attention = ordinary();
    int32_t mask[138];

    for (size_t s = 0; s < 138; s++) {
        mask[s] = s != 40;
    }
    attention.key_mask = mask;
    attention_init(&attention);
    for (size_t i = 0; i < (size_t)2 * 7; i++) {
        attention.v[(size_t)137 * 2 * 7 + i] = INFINITY;
        attention.v[(size_t)40 * 2 * 7 + i] = NAN;
    }
    attention.k[(size_t)40 * 2 * 24] = attention.k[((size_t)40 * 2 + 1) * 24] = INFINITY;
    formulas_attention(&attention.op, attention.expected);
    cr_assert(isfinite(attention.expected[(size_t)9 * 6 * 7]));
    cr_assert_eq(attention.expected[(size_t)10 * 6 * 7], INFINITY);
    attention_check(&attention);
}

Test(reference_attention, large_scores_do_not_overflow)
{
    struct attention attention = ordinary();

    attention.op.scale = 1; // Scores of several hundreds.
    attention_init(&attention);
    for (size_t i = 0; i < (size_t)11 * 6 * 24; i++) {
        attention.q[i] *= 64;
    }
    formulas_attention(&attention.op, attention.expected);
    cr_assert(isfinite(attention.expected[0]));

    // Floats of scores of a thousand are 6e-5 apart, and so are their weights.
    reference_check(&attention.fixture, 1, attention.expected, 1e-2);
    attention_release(&attention);
}

Test(reference_attention, rows_and_heads_may_lie_anywhere)
{
    struct attention attention = ordinary();
    struct op_fixture_argument *arguments = attention.fixture.arguments;

    attention.has_sinks = true;
    attention.sinks_dtype = TAPML_BF16;
    attention.has_slopes = true;
    attention_init(&attention);
    for (uint32_t i = 0; i < tapml_attention.n_params; i++) {
        if (arguments[i].tensor.rank == 3) {
            arguments[i].tensor = op_fixture_spread(arguments[i].tensor, i + 1, (int64_t)i + 2);
        } else if (arguments[i].tensor.rank == 1) {
            arguments[i].tensor.lead = 3;
        }
    }

    // One head of the state after the other, as some models keep it.
    arguments[TAPML_ATTENTION_K_STATE].tensor.stride[0] = 25;
    arguments[TAPML_ATTENTION_K_STATE].tensor.stride[1] = (int64_t)25 * 150;
    attention_check(&attention);
}

Test(reference_attention, threads_share_the_queries)
{
    struct attention attention = ordinary();
    struct plugin *plugin = reference_open("f32", 3);
    double y[11 * 6 * 7];

    attention_init(&attention);
    op_fixture_run(&attention.fixture, plugin, y);
    cr_assert_gt(plugin_range_count(plugin), 1);
    reference_close(plugin);
    attention_check(&attention);
}

// The last tokens alone, behind the same states, give the same bits on every device.
Test(reference_attention, bits_do_not_depend_on_the_other_tokens)
{
    static const char *const devices[] = {"f32", "f64", "f32-reversed", "f32-blocked",
                                          "f16-rounded"};

    for (size_t i = 0; i < 5; i++) {
        struct attention whole = ordinary(), last = ordinary();
        struct plugin *plugin = reference_open(devices[i], 1);
        double y[11 * 6 * 7], last_y[2 * 6 * 7];

        whole.op.window = 100;
        last.op.window = 100;
        last.op.tokens = 2;
        last.op.position = 136;
        attention_init(&whole);
        attention_init(&last);
        memcpy(last.q, whole.q + (size_t)9 * 6 * 24, sizeof(double) * 2 * 6 * 24);
        op_fixture_run(&whole.fixture, plugin, y);
        op_fixture_run(&last.fixture, plugin, last_y);
        cr_assert_arr_eq(y + (size_t)9 * 6 * 7, last_y, sizeof(last_y), "%s", devices[i]);
        reference_close(plugin);
        attention_check(&whole);
        attention_check(&last);
    }
}

Test(reference_attention, heads_that_do_not_divide_are_refused_with_a_reason)
{
    struct attention attention = ordinary();
    struct plugin *plugin = reference_open(NULL, 1);

    attention.op.hk = 4;
    attention_init(&attention);

    const tapml_support support = op_fixture_supports(&attention.fixture, plugin);

    cr_assert_eq(support.grade, TAPML_SUPPORT_NO);
    cr_assert_str_eq(support.reason, "6 query heads are no multiple of 4 key heads");
    reference_close(plugin);
    attention_release(&attention);
}
