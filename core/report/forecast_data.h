// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A forecast as a JSON document, of which the text is a view; docs/forecast.md describes it.
#pragma once

#include "run/forecast_cost.h"
#include "run/forecast_limits.h"
#include "run/forecast_values.h"

#include <jansson.h>

struct forecast {
    const char *model, *source; // As they were given.
    uint64_t prompts;
    const struct forecast_frame *frame;
    const struct forecast_values *values;
    const struct forecast_limits *limits;
    const struct forecast_cost *prefill;
    const struct forecast_cost *decode; // NULL for an encoder.
};

// The caller owns the document (json_decref). TAPML_NO_MEMORY is the one failure.
tapml_status forecast_data_create(const struct forecast *forecast,
                                  json_t **out_document) STATUS_USED;

// Whether the document names no op that is refused or whose values leave or lose range, and the
// device's memory, if it is known, is enough.
int forecast_data_is_clear(const json_t *document);
