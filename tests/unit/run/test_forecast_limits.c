// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/forecast_fixture.h"
#include "run/forecast_limits.h"

static struct forecast_limits find(struct forecast_fixture *fixture, const char *figures)
{
    struct forecast_limits limits = {.items = NULL};

    forecast_fixture_open(fixture, figures, ACTIVATION_F32);
    FORECAST_MUST(forecast_limits_find(&fixture->frame, &limits));
    return limits;
}

static void close_found(struct forecast_fixture *fixture, struct forecast_limits *limits)
{
    forecast_limits_release(limits);
    forecast_fixture_close(fixture);
}

static size_t count(const struct forecast_limits *limits, enum forecast_limit_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < limits->count; i++) {
        count += limits->items[i].kind == kind;
    }
    return count;
}

// The finding of a kind at an instance.
static const struct forecast_limit *at(const struct forecast_fixture *fixture,
                                       const struct forecast_limits *limits,
                                       enum forecast_limit_kind kind,
                                       const char *instance)
{
    const uint32_t op = graph_find_op(fixture->frame.graph, instance);

    for (size_t i = 0; i < limits->count; i++) {
        if (limits->items[i].kind == kind && limits->items[i].op == op) {
            return &limits->items[i];
        }
    }
    cr_assert_fail("'%s' is not %s", instance, forecast_limits_name(kind));
    return NULL;
}

Test(forecast_limits, unknown_figures_limit_nothing)
{
    struct forecast_fixture fixture;
    struct forecast_limits limits = find(&fixture, "");

    cr_assert_eq(limits.count, 0u);
    cr_assert_eq(limits.memory.states, 8u * 32 * 64 * 4);
    cr_assert_eq(limits.memory.weights, 1793792u);
    cr_assert_gt(limits.memory.activations, 16u * 352 * 4);
    cr_assert_eq(forecast_limits_bytes(&limits.memory),
                 limits.memory.weights + limits.memory.states + limits.memory.activations);
    close_found(&fixture, &limits);
}

// Rows of 256 bytes of a table of 619: a weight whose row fits comes in panels, a value is refused.
Test(forecast_limits, what_is_larger_than_a_binding_is_cut_or_refused)
{
    struct forecast_fixture fixture;
    struct forecast_limits limits = find(&fixture, "[memory]\nbinding = 51200\n");
    const struct forecast_limit *limit = at(&fixture, &limits, FORECAST_PANELS, "embed");

    cr_assert_str_eq(limit->sentence,
                     "'model.embed_tokens.weight' in 4 panels: 158464 of 51200 bytes");
    cr_assert_eq(count(&limits, FORECAST_REFUSED), 0u);
    close_found(&fixture, &limits);

    // A weight that is cut is not why an op is refused.
    limits = find(&fixture, "[memory]\nbinding = 51200\n[kernel]\nbindings = 2\n");
    limit = at(&fixture, &limits, FORECAST_REFUSED, "embed");
    cr_assert_str_eq(limit->sentence, "binds 3 buffers, a kernel has 2");
    cr_assert_eq(limit->needed, 0u);
    close_found(&fixture, &limits);

    limits = find(&fixture, "[memory]\nbinding = 30000\n");
    limit = at(&fixture, &limits, FORECAST_REFUSED, "head");
    cr_assert_eq(limit->limit, 30000u);
    cr_assert_eq(limit->needed, 16u * 619 * 4); // Of the logits, which share no buffer.
    cr_assert_not_null(strstr(limit->sentence, " is larger than a buffer: "));
    cr_assert_lt(count(&limits, FORECAST_REFUSED), fixture.frame.graph->op_count);
    close_found(&fixture, &limits);
}

// The embedded model is bf16.
Test(forecast_limits, weights_of_a_type_that_is_not_computed_in_are_widened)
{
    struct forecast_fixture fixture;
    struct forecast_limits limits = find(&fixture, "[arithmetic]\nbf16 = none\n");

    cr_assert_str_eq(at(&fixture, &limits, FORECAST_WIDENED, "head")->sentence,
                     "'lm_head.weight' is bf16");
    cr_assert_eq(limits.count, 29u + 9 + 1); // Products, norms and the table.
    close_found(&fixture, &limits);
    limits = find(&fixture, "[arithmetic]\nbf16 = arithmetic\nf16 = none\n");
    cr_assert_eq(limits.count, 0u);
    close_found(&fixture, &limits);
}

Test(forecast_limits, what_kernels_have_to_provide_for_is_named)
{
    struct forecast_fixture fixture;
    struct forecast_limits limits = find(
        &fixture, "[memory]\nalignment = 4\n[kernel]\nitems = 64\ngroups = 60\nshared = 1024\n");

    cr_assert_str_eq(at(&fixture, &limits, FORECAST_FOLDED, "layers.0/mlp/silu")->sentence,
                     "5632 values are 88 groups, an axis has 60");
    cr_assert_str_eq(at(&fixture, &limits, FORECAST_SHARED, "layers.3/mlp/down_proj")->sentence,
                     "a row of 352 values takes 1408 bytes, a workgroup has 1024");
    cr_assert_eq(count(&limits, FORECAST_SHARED), 4u);
    cr_assert_eq(count(&limits, FORECAST_OFFSET), 0u);
    cr_assert_eq(count(&limits, FORECAST_REFUSED), 0u);
    for (size_t i = 1; i < limits.count; i++) { // In order.
        cr_assert(limits.items[i - 1].kind < limits.items[i].kind ||
                  limits.items[i - 1].op < limits.items[i].op);
    }
    close_found(&fixture, &limits);
}
