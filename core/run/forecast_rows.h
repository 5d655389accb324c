// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A forecast as the rows of a store: what a report shows of it.
//
// Any thread that has the forecast. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "run/forecast.h"
#include "store/forecasted.h"
#include "store/forecasted_kind.h"
#include "store/forecasted_limit.h"
#include "store/forecasted_range.h"
#include "store/forecasted_time.h"

struct arena;

// Sets what a forecast found in a row whose name, activations and figures are set. Arrays and
// sentences are in `arena`; names of ops and instances are those of the model, which lives longer.
tapml_status forecast_rows_make(const struct forecast *forecast,
                                const struct forecast_values *values,
                                struct arena *arena,
                                struct forecasted_row *row) STATUS_USED;

// Whether the values of an op leave the range of the type, or lose precision in it.
int forecast_rows_leaves(const struct forecasted_range *range);
int forecast_rows_loses(const struct forecasted_range *range);
