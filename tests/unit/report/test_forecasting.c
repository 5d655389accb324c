// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "harness/short_setup.h"
#include "report/forecast_data.h"
#include "report/forecasting.h"

#include <string.h>

static void add_device(struct short_setup *run, const char *name, const char *figures)
{
    struct run_config_forecast *forecast = &run->config.forecasts[run->config.forecast_count++];
    struct text text;

    text_init(&text);
    text_format(&text, "[device]\nname = %s\nsource = a\nsource = b\n%s", name, figures);
    forecast->name = name;
    forecast->figures = alloc_new(text.length + 1);
    cr_assert_not_null(forecast->figures);
    memcpy(forecast->figures, text.data, text.length + 1);
    SHORT_MUST(device_file_parse("x.ini", text.data, text.length, &forecast->device));
    text_release(&text);
}

static json_t *documents_of(struct short_setup *run, size_t count)
{
    json_t *documents = NULL;

    SHORT_MUST(forecasting_run(&run->config, &run->setup, run->store, &run->prompts));
    SHORT_MUST(forecasting_read(run->store, &documents));
    cr_assert_eq(json_array_size(documents), count);
    return documents;
}

static const char *text_of(const json_t *documents, size_t index, const char *key)
{
    return json_string_value(json_object_get(json_array_get(documents, index), key));
}

Test(forecasting, each_device_has_a_document)
{
    struct short_setup run;

    short_setup_open(&run);
    json_decref(documents_of(&run, 0));
    add_device(&run, "large", "[memory]\nbytes = 1000000000\n");
    add_device(&run, "small", "[memory]\nbytes = 1000\n");
    run.config.forecasts[1].activation = ACTIVATION_F16;
    json_t *documents = documents_of(&run, 2);
    const json_t *device = json_object_get(json_array_get(documents, 0), "device");

    cr_expect_str_eq(text_of(documents, 0, "name"), "large");
    cr_expect_eq(json_array_size(json_object_get(device, "sources")), 2u);
    cr_expect(forecast_data_is_clear(json_array_get(documents, 0)));
    cr_expect_str_eq(text_of(documents, 1, "name"), "small");
    cr_expect_str_eq(text_of(documents, 1, "activations"), "f16");
    cr_expect_not(forecast_data_is_clear(json_array_get(documents, 1)));
    json_decref(documents);
    short_setup_close(&run);
}

Test(forecasting, what_is_kept_is_not_made_again_unless_devices_change)
{
    struct arena *arena = arena_create();
    struct forecasted_row *rows = NULL;
    struct short_setup run;
    size_t count = 0;

    short_setup_open(&run);
    add_device(&run, "large", "[memory]\nbytes = 1000000000\n");
    json_decref(documents_of(&run, 1));
    SHORT_MUST(forecasted_list(run.store, arena, &rows, &count));
    const uint64_t tokens = rows[0].tokens;

    rows[0].tokens = 77;
    SHORT_MUST(forecasted_replace(run.store, rows, 1));
    json_decref(documents_of(&run, 1));
    SHORT_MUST(forecasted_list(run.store, arena, &rows, &count));
    cr_assert_eq(rows[0].tokens, 77u);
    run.config.forecasts[0].activation = ACTIVATION_F16;
    json_decref(documents_of(&run, 1));
    SHORT_MUST(forecasted_list(run.store, arena, &rows, &count));
    cr_assert_eq(rows[0].tokens, tokens);
    arena_destroy(arena);
    short_setup_close(&run);
}

Test(forecasting, figures_of_a_stranger_are_refused)
{
    const struct forecasted_row row = {
        .name = "x", .activations = "f32", .figures = "[memory]\nbytes = -3\n"};
    struct short_setup run;
    json_t *documents = NULL;

    short_setup_open(&run);
    SHORT_MUST(forecasted_replace(run.store, &row, 1));
    cr_assert_eq(forecasting_read(run.store, &documents), TAPML_INVALID);
    short_setup_close(&run);
}
