// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/log_softmax.h"

#include "base/assert.h"

#include <math.h>

tapml_status log_softmax_make(const float *logits, int64_t width, struct log_softmax *out_row)
{
    struct log_softmax row = {.logits = logits, .width = width};
    double sum = 0;

    ASSERT(width > 0);
    for (int64_t i = 0; i < width; i++) {
        if (isnan(logits[i]) || (isinf(logits[i]) && logits[i] > 0)) {
            return status_fail(TAPML_INVALID, "logit %lld is %s", (long long)i,
                               isnan(logits[i]) ? "NaN" : "infinite");
        }
        row.top = logits[i] > logits[row.top] ? i : row.top;
    }
    const double largest = logits[row.top];

    if (isinf(largest)) {
        return status_fail(TAPML_INVALID, "all %lld logits are -infinity", (long long)width);
    }
    for (int64_t i = 0; i < width; i++) {
        sum += exp(logits[i] - largest);
    }
    row.log_sum = largest + log(sum);
    *out_row = row;
    return TAPML_OK;
}

double log_softmax_at(const struct log_softmax *row, int64_t index)
{
    ASSERT(index >= 0 && index < row->width);
    return row->logits[index] - row->log_sum;
}

double log_softmax_divergence(const struct log_softmax *base, const struct log_softmax *computed)
{
    double sum = 0;

    ASSERT(base->width == computed->width);
    for (int64_t i = 0; i < base->width; i++) {
        const double log_base = base->logits[i] - base->log_sum;
        const double probability = exp(log_base);

        if (probability > 0) {
            sum += probability * (log_base - (computed->logits[i] - computed->log_sum));
        }
    }
    return fmax(sum, 0); // Of equal distributions rounding may leave less than nothing.
}
