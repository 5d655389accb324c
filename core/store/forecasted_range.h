// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `forecast_range`: ops whose values leave or lose the range of a type, by a forecast.
#pragma once

#include "store/forecasted_part.h"

struct forecasted_range {
    const char *type; // "f16" or "bf16".
    const char *instance, *op;
    uint64_t elements;              // Values that were looked at.
    uint64_t beyond, below, zeroed; // Of these, as in tensor/range.h.
    double largest;
    double relative; // Error of all that stay finite,
    double worst;    // and that of the worst call.
};

extern const struct forecasted_part forecasted_range_part;
