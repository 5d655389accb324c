// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/forecast_fixture.h"
#include "report/forecast_data.h"

// A forecast of the embedded model whose values are made up: `beyond` of those of one op.
static json_t *make(const char *figures, uint64_t beyond)
{
    struct forecast_fixture fixture;
    struct arena *arena = arena_create();
    struct forecasted_row row = {.activations = "f32"};
    struct forecast forecast;
    json_t *document = NULL;

    forecast_fixture_open(&fixture, figures, ACTIVATION_F32);
    const struct forecast_options options = {.setup = &fixture.setup, .capacity = 32, .chunk = 16};
    struct forecast_values values = forecast_fixture_values(fixture.frame.graph, beyond);

    FORECAST_MUST(forecast_open(&options, &fixture.file, ACTIVATION_F32, &forecast));
    FORECAST_MUST(forecast_rows_make(&forecast, &values, arena, &row));
    FORECAST_MUST(forecast_data_create(
        &(struct forecast_data){
            .model = "m", .source = "s", .prompts = 1, .row = &row, .device = &fixture.file},
        &document));
    forecast_close(&forecast);
    arena_destroy(arena);
    forecast_values_release(&values);
    forecast_fixture_close(&fixture);
    return document;
}

static json_int_t number(const json_t *document, const char *part, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(document, part), key));
}

Test(forecast_data, an_op_that_leaves_a_range_is_named)
{
    json_t *document = make("", 3);
    const json_t *ranges = json_object_get(document, "ranges");
    const json_t *item = json_array_get(ranges, 0);

    cr_assert_eq(json_array_size(ranges), 1u);
    cr_assert_str_eq(json_string_value(json_object_get(item, "instance")), "layers.1/mlp/mul");
    cr_assert_str_eq(json_string_value(json_object_get(item, "op")), "mul");
    cr_assert_str_eq(json_string_value(json_object_get(item, "type")), "f16");
    cr_assert_eq(json_integer_value(json_object_get(item, "beyond")), 3);
    cr_assert_eq(number(document, "verdict", "leave_f16"), 1);
    cr_assert_eq(number(document, "verdict", "leave_bf16"), 0);
    cr_assert_not(forecast_data_is_clear(document));
    cr_assert_eq(json_array_size(json_object_get(document, "times")), 2u);
    json_decref(document);
}

Test(forecast_data, memory_that_is_enough_or_unknown_is_clear)
{
    json_t *unknown = make("", 0), *enough = make("[memory]\nbytes = 2500000\n", 0);
    json_t *little = make("[memory]\nbytes = 1800000\n", 0);

    cr_assert(forecast_data_is_clear(unknown));
    cr_assert(json_is_null(json_object_get(json_object_get(unknown, "memory"), "fits")));
    cr_assert(forecast_data_is_clear(enough));
    cr_assert(json_is_true(json_object_get(json_object_get(enough, "memory"), "fits")));
    cr_assert_not(forecast_data_is_clear(little));
    cr_assert_eq(number(little, "memory", "device"), 1800000);
    json_decref(unknown);
    json_decref(enough);
    json_decref(little);
}

Test(forecast_data, a_refused_op_is_no_success_and_a_panel_is)
{
    json_t *panels = make("[memory]\nbinding = 51200\n", 0);
    json_t *refused = make("[kernel]\nbindings = 2\n", 0);

    cr_assert(forecast_data_is_clear(panels));
    cr_assert_gt(json_array_size(json_object_get(panels, "limits")), 0u);
    cr_assert_not(forecast_data_is_clear(refused));
    cr_assert_gt(number(refused, "verdict", "refused"), 0);
    json_decref(panels);
    json_decref(refused);
}
