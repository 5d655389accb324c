// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A forecast as a JSON document, of which text and page are views; docs/forecast.md describes it.
#pragma once

#include "config/device_file.h"
#include "run/forecast_rows.h"

#include <jansson.h>

struct forecast_data {
    const char *model, *source; // As they were given.
    uint64_t capacity, chunk, prompts, ops;
    const struct forecasted_row *row;
    const struct device_file *device; // What is in the figures of the row.
};

// The caller owns the document (json_decref). It has the row's name first, unless that is NULL.
// TAPML_NO_MEMORY is the one failure.
tapml_status forecast_data_create(const struct forecast_data *data,
                                  json_t **out_document) STATUS_USED;

// Whether the document names no op that is refused or whose values leave or lose range, and the
// device's memory, if it is known, is enough.
int forecast_data_is_clear(const json_t *document);
