// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The forecasts of a run on the page of its report.
#pragma once

#include "base/text.h"

#include <jansson.h>

// Appends a section with the devices of a report's `forecasts`: of each the verdict, memory and
// times, the ops whose values leave or lose a range, and those that exceed a limit. Nothing where
// there is none.
void forecast_html_print(const json_t *forecasts, struct text *out);
