// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/forecast_fixture.h"
#include "run/forecast_rows.h"

Test(forecast_rows, what_a_forecast_found_is_in_them)
{
    struct forecasted_row row = {.name = "x"};
    struct arena *arena = arena_create();
    struct forecast_fixture fixture;
    struct forecast forecast;

    forecast_fixture_open(&fixture, "[memory]\nbinding = 51200\nbandwidth = 1\n", ACTIVATION_F32);
    const struct graph *graph = fixture.frame.graph;
    const struct forecast_options options = {.setup = &fixture.setup, .capacity = 32, .chunk = 16};
    struct forecast_values values = forecast_fixture_values(graph, 3);

    values.ops[graph_find_op(graph, "layers.0/mlp/mul")].types[FORECAST_BF16].worst = 0.5;
    FORECAST_MUST(forecast_open(&options, &fixture.file, ACTIVATION_F32, &forecast));
    FORECAST_MUST(forecast_rows_make(&forecast, &values, arena, &row));
    cr_assert_eq(row.tokens, 7u);
    cr_assert_eq(row.weights_bytes, forecast.limits.memory.weights);
    cr_assert_eq(row.range_count, 2u);
    cr_expect_str_eq(row.ranges[0].type, "f16");
    cr_expect_str_eq(row.ranges[0].op, "tapml.mul");
    cr_expect_str_eq(row.ranges[0].instance, "layers.1/mlp/mul");
    cr_expect(forecast_rows_leaves(&row.ranges[0]) && !forecast_rows_loses(&row.ranges[0]));
    cr_expect_str_eq(row.ranges[1].type, "bf16");
    cr_expect(!forecast_rows_leaves(&row.ranges[1]) && forecast_rows_loses(&row.ranges[1]));
    cr_assert_eq(row.limit_count, forecast.limits.count);
    cr_expect_str_eq(row.limits[0].kind, "panels");
    cr_expect_str_eq(row.limits[0].sentence, forecast.limits.items[0].sentence);
    cr_assert_eq(row.time_count, 2u);
    cr_expect_str_eq(row.times[1].phase, "decode");
    cr_expect_eq(row.times[1].first_token, 31u);
    cr_expect_eq(row.times[1].seconds, forecast.decode.seconds);
    cr_assert_eq(row.kind_count, forecast.prefill.kind_count + forecast.decode.kind_count);
    forecast_close(&forecast);
    forecast_values_release(&values);
    forecast_fixture_close(&fixture);
    arena_destroy(arena);
}

Test(forecast_rows, a_type_that_is_unknown_loses_nothing)
{
    cr_assert_not(forecast_rows_loses(&(struct forecasted_range){.type = "f8", .worst = 1}));
}
