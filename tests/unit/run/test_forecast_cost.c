// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/forecast_fixture.h"
#include "run/forecast_cost.h"

#include <math.h>

static struct forecast_cost
find(const char *figures, enum activation activation, int64_t tokens, int64_t position)
{
    struct forecast_fixture fixture;
    struct forecast_cost cost = {.kinds = NULL};

    forecast_fixture_open(&fixture, figures, activation);
    FORECAST_MUST(forecast_cost_find(&fixture.frame, tokens, position, &cost));
    forecast_fixture_close(&fixture);
    return cost;
}

static const struct forecast_kind *kind_of(const struct forecast_cost *cost, const char *name)
{
    for (size_t i = 0; i < cost->kind_count; i++) {
        if (strcmp(cost->kinds[i].op->name, name) == 0) {
            return &cost->kinds[i];
        }
    }
    cr_assert_fail("no %s", name);
    return NULL;
}

// Per layer q 128, k and v 64, o 128, gate, up and down 352 columns; and the head.
enum { VALUES = 4 * 128 * (128 + 64 + 64 + 128 + 3 * 352) + 128 * 619 };

Test(forecast_cost, counts_what_each_op_moves_and_computes)
{
    struct forecast_cost cost = find("", ACTIVATION_F32, 1, 31);
    const struct forecast_kind *linear = kind_of(&cost, "tapml.linear");
    const struct forecast_kind *silu = kind_of(&cost, "tapml.silu");
    const struct forecast_kind *append = kind_of(&cost, "tapml.state_append");
    const struct forecast_kind *attention = kind_of(&cost, "tapml.attention");

    cr_assert_eq(linear->calls, 29u);
    cr_assert_eq(linear->operations, 2.0 * VALUES);
    const double in = 4 * (6 * 128 + 352) + 128, out = 4 * (3 * 128 + 2 * 64 + 2 * 352) + 619;

    cr_assert_eq(linear->bytes, 2.0 * VALUES + 4 * (in + out));
    cr_assert_eq(silu->bytes, 4.0 * 2 * 352 * 4);
    cr_assert_eq(append->bytes, 8.0 * 2 * 64 * 4);
    cr_assert_eq(attention->bytes, 4.0 * (2 * 128 + 2 * 32 * 64) * 4);
    cr_assert_eq(kind_of(&cost, "tapml.embed")->bytes, 128 * 2.0 + 128 * 4 + 4);
    cr_assert_eq(cost.launches, 76u);
    cr_assert_eq(cost.seconds, 0);
    forecast_cost_release(&cost);
}

Test(forecast_cost, activations_of_f16_take_half)
{
    struct forecast_cost wide = find("", ACTIVATION_F32, 16, 0);
    struct forecast_cost half = find("", ACTIVATION_F16, 16, 0);

    cr_assert_eq(kind_of(&half, "tapml.silu")->bytes, kind_of(&wide, "tapml.silu")->bytes / 2);
    cr_assert_eq(half.operations, wide.operations);
    forecast_cost_release(&wide);
    forecast_cost_release(&half);
}

// The longer of moving and computing, op by op, and a launch of each.
Test(forecast_cost, time_follows_from_the_figures)
{
    struct forecast_cost moved = find("[memory]\nbandwidth = 1\n", ACTIVATION_F32, 1, 31);
    struct forecast_cost computed = find("[arithmetic]\nf32-rate = 1\n", ACTIVATION_F32, 1, 31);
    struct forecast_cost both =
        find("[memory]\nbandwidth = 1\n[arithmetic]\nf32-rate = 1\nf16-rate = 8\n[kernel]\n"
             "launch = 1000\n",
             ACTIVATION_F32, 1, 31);

    cr_assert_float_eq(moved.seconds, moved.bytes * 1e-9, 1e-12);
    cr_assert_float_eq(computed.seconds, computed.operations * 1e-9, 1e-12);
    cr_assert_geq(both.seconds, fmax(moved.seconds, computed.seconds) + 0.076 - 1e-9);
    cr_assert_leq(both.seconds, moved.seconds + computed.seconds + 0.076 + 1e-9);
    cr_assert(moved.has_bandwidth && !moved.has_rate && !moved.has_launch);
    cr_assert(both.has_bandwidth && both.has_rate && both.has_launch);
    for (size_t i = 1; i < both.kind_count; i++) {
        cr_assert_geq(both.kinds[i - 1].seconds, both.kinds[i].seconds);
    }
    forecast_cost_release(&moved);
    forecast_cost_release(&computed);
    forecast_cost_release(&both);
}
