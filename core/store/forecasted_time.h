// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `forecast_time`: what a call of the model costs on a device, by a forecast.
#pragma once

#include "store/forecasted_part.h"

struct forecasted_time {
    const char *phase;            // "prefill" or "decode".
    uint64_t tokens, first_token; // Their number, and the position of the first.
    uint64_t launches;
    double bytes, operations;
    double seconds;                          // NaN if unknown.
    int has_bandwidth, has_rate, has_launch; // What the seconds are made of.
};

extern const struct forecasted_part forecasted_time_part;
