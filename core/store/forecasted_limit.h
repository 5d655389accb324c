// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `forecast_limit`: ops that exceed a limit of a device, by a forecast.
#pragma once

#include "store/forecasted_part.h"

struct forecasted_limit {
    const char *kind; // Of run/forecast_limits.h.
    const char *instance, *op;
    uint64_t needed, allowed; // 0 where the reason has no number.
    const char *sentence;
};

extern const struct forecasted_part forecasted_limit_part;
