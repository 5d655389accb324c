// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The forecasts of a run: what [forecast.NAME] asks for, made and kept in the store, and read from
// there for the report.
#pragma once

#include "config/run_config.h"
#include "model/prompts.h"
#include "run/setup.h"

#include <jansson.h>

struct store;

// Runs the prompts on the first place of `setup`, the source, once for all devices, keeps what
// follows for each, and prints its verdict. Nothing runs if the configuration has no device, or the
// store has the forecasts of these devices. One thread. Failures are those of the source and of the
// store.
tapml_status forecasting_run(const struct run_config *config,
                             struct setup *setup,
                             struct store *store,
                             const struct prompts *prompts) STATUS_USED;

// The documents (report/forecast_data.h) of all forecasts of a store, in an array that the caller
// owns. Failures are those of the store; TAPML_INVALID if the figures of a device are none.
tapml_status forecasting_read(struct store *store, json_t **out_documents) STATUS_USED;
