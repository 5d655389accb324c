// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/forecast.h"

static int64_t longest_of(const struct prompts *prompts)
{
    size_t longest = 1;

    for (size_t i = 0; i < prompts->count; i++) {
        longest = prompts->items[i].count > longest ? prompts->items[i].count : longest;
    }
    return (int64_t)longest;
}

static tapml_status
run(const struct forecast_options *options, const struct plan *plan, struct forecast_values *out)
{
    const struct setup *setup = options->setup;
    const int64_t capacity = longest_of(options->prompts) + options->decode;
    const int is_encoder = setup_vocabulary(setup) == 0; // It sees all of a text.
    const struct session_options session = {
        .model = setup->model,
        .places = setup->places,
        .place_count = 1,
        .plan = plan,
        .capacity = capacity,
        .chunk = is_encoder || capacity < options->chunk ? capacity : options->chunk,
    };

    return forecast_values_find(&(struct forecast_run){.session = &session,
                                                       .prompts = options->prompts,
                                                       .decode = options->decode,
                                                       .end = setup->special.end,
                                                       .end_count = setup->special.end_count},
                                out);
}

tapml_status forecast_run_source(const struct forecast_options *options,
                                 struct forecast_values *out_values)
{
    struct plan *plan = NULL; // All on the source.

    TAPML_TRY(plan_create(&plan));
    const tapml_status status = run(options, plan, out_values);

    plan_destroy(plan);
    return status;
}

static tapml_status judge(const struct forecast_options *options, struct forecast *forecast)
{
    struct forecast_frame *frame = &forecast->frame;

    TAPML_TRY(forecast_limits_find(frame, &forecast->limits));
    TAPML_TRY(forecast_cost_find(frame, options->chunk, 0, &forecast->prefill));
    return setup_vocabulary(options->setup) > 0
               ? forecast_cost_find(frame, 1, options->capacity - 1, &forecast->decode)
               : TAPML_OK;
}

tapml_status forecast_open(const struct forecast_options *options,
                           const struct device_file *file,
                           enum activation activation,
                           struct forecast *out_forecast)
{
    *out_forecast = (struct forecast){.limits.count = 0};
    TAPML_TRY(
        forecast_frame_open(&(struct forecast_frame_options){.model = options->setup->model,
                                                             .source = options->setup->places[0],
                                                             .file = file,
                                                             .activation = activation,
                                                             .capacity = options->capacity,
                                                             .chunk = options->chunk},
                            &out_forecast->frame));
    const tapml_status status = judge(options, out_forecast);

    if (status != TAPML_OK) {
        forecast_close(out_forecast);
    }
    return status;
}

void forecast_close(struct forecast *forecast)
{
    forecast_cost_release(&forecast->prefill);
    forecast_cost_release(&forecast->decode);
    forecast_limits_release(&forecast->limits);
    forecast_frame_close(&forecast->frame);
}
