// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a device that is known by its figures would make of a model, and what the source's run says
// of its values: all parts of a forecast, for whoever shows it.
//
// One thread, that of the source.
#pragma once

#include "run/forecast_cost.h"
#include "run/forecast_limits.h"
#include "run/forecast_values.h"
#include "run/setup.h"

// Borrowed.
struct forecast_options {
    struct setup *setup;           // Its model and its first place, the source, are open.
    const struct prompts *prompts; // For the values.
    int64_t decode;                // Tokens after each of them.
    int64_t capacity, chunk;       // Of the device, as in forecast_frame_options.
};

struct forecast {
    struct forecast_frame frame; // It has pointers to itself: a forecast stays where it was made.
    struct forecast_limits limits;
    struct forecast_cost prefill;
    struct forecast_cost decode; // Without kinds for an encoder.
};

// Runs the prompts on the source, with states that are no larger than these need. One run is for
// all devices. The caller releases the result. Failures are those of forecast_values_find.
tapml_status forecast_run_source(const struct forecast_options *options,
                                 struct forecast_values *out_values) STATUS_USED;

// What the device of `file`, which is borrowed, makes of the model. The caller closes the forecast.
// Failures are those of forecast_frame_open, forecast_limits_find and forecast_cost_find.
tapml_status forecast_open(const struct forecast_options *options,
                           const struct device_file *file,
                           enum activation activation,
                           struct forecast *out_forecast) STATUS_USED;

// A zeroed forecast is allowed.
void forecast_close(struct forecast *forecast);
