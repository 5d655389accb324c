// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/forecast_fixture.h"
#include "run/forecast.h"

static const char figures[] = "[device]\nname = X\nsource = a test\n[memory]\nbandwidth = 1\n";

Test(forecast, one_run_is_for_several_devices)
{
    int32_t ids[] = {0, 352, 528};
    struct prompt prompt = {.ids = ids, .count = 3};
    const struct prompts prompts = {.items = &prompt, .count = 1};
    struct forecast_fixture fixture = {.file.name = NULL};
    struct forecast_values values;
    struct forecast plain, half;

    forecast_fixture_setup(&fixture, "models/tiny");
    FORECAST_MUST(device_file_parse("x.ini", figures, strlen(figures), &fixture.file));
    const struct forecast_options options = {
        .setup = &fixture.setup, .prompts = &prompts, .decode = 2, .capacity = 64, .chunk = 16};

    FORECAST_MUST(forecast_run_source(&options, &values));
    cr_assert_eq(values.tokens, 4u, "%llu", (unsigned long long)values.tokens);
    FORECAST_MUST(forecast_open(&options, &fixture.file, ACTIVATION_F32, &plain));
    FORECAST_MUST(forecast_open(&options, &fixture.file, ACTIVATION_F16, &half));
    cr_expect_eq(plain.prefill.tokens, 16);
    cr_expect_eq(plain.decode.position, 63);
    cr_expect_gt(plain.decode.seconds, 0);
    cr_expect_eq(plain.limits.memory.states, 2 * half.limits.memory.states);
    forecast_close(&plain);
    forecast_close(&half);
    forecast_values_release(&values);
    device_file_release(&fixture.file);
    setup_close(&fixture.setup);
}

Test(forecast, a_chunk_above_the_capacity_is_refused)
{
    struct forecast_fixture fixture = {.file.name = NULL};
    struct forecast forecast;

    forecast_fixture_setup(&fixture, "models/tiny");
    FORECAST_MUST(device_file_parse("x.ini", figures, strlen(figures), &fixture.file));
    const struct forecast_options options = {.setup = &fixture.setup, .capacity = 8, .chunk = 16};

    cr_assert_eq(forecast_open(&options, &fixture.file, ACTIVATION_F32, &forecast), TAPML_INVALID);
    forecast_close(&forecast);
    device_file_release(&fixture.file);
    setup_close(&fixture.setup);
}
