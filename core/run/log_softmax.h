// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Logarithms of the probabilities that logits give: log p_i = x_i - log sum_k exp(x_k), in double,
// with the largest logit taken out of the sum so that no power overflows. Any thread.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct log_softmax {
    const float *logits; // Of one position, `width` of them. Borrowed.
    int64_t width;
    double log_sum; // log sum_k exp(x_k)
    int64_t top;    // Of the largest logit; of several, the first.
};

// TAPML_INVALID, with the index, if a logit is NaN or +infinity, or if all are -infinity.
tapml_status
log_softmax_make(const float *logits, int64_t width, struct log_softmax *out_row) STATUS_USED;

// log p of an entry of the vocabulary, at most 0; -infinity where its logit is.
double log_softmax_at(const struct log_softmax *row, int64_t index);

// The Kullback-Leibler divergence of `computed` from `base`, which have the same width:
// sum_i p_i (log p_i - log q_i) with p of `base` and q of `computed`, in nats. What p gives no
// probability adds nothing; infinite where q gives none to what p has. At least 0.
double log_softmax_divergence(const struct log_softmax *base, const struct log_softmax *computed);
