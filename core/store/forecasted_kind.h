// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `forecast_kind`: what the ops of one kind cost in a call, by a forecast.
#pragma once

#include "store/forecasted_part.h"

struct forecasted_kind {
    const char *phase; // Of the call.
    const char *op;
    uint64_t calls;
    double bytes, operations;
    double seconds; // NaN if unknown.
};

extern const struct forecasted_part forecasted_kind_part;
