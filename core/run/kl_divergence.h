// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How far the probabilities that a model gives to the next token are from those of a base: the
// same text, the same positions. Numbers are defined as others quote them (docs/perplexity.md), and
// computed in double from logits as they are.
//
// Of each position two numbers are kept, no logits. One thread.
#pragma once

#include "run/log_softmax.h"
#include "run/running_mean.h"

#include <stddef.h>

// All zeros: no position yet.
struct kl_divergence {
    struct running_pair surprise;    // -log p of the token that follows: of the base; computed.
    struct running_mean divergences; // Kullback-Leibler, of the position's probabilities.
    struct running_mean differences; // p computed - p base, of the token that follows.
    struct running_mean squares;     // Of these.
    uint64_t same_top;               // Positions at which both have the same likeliest token.
    double *kept_divergences;        // One of each position, owned.
    double *kept_differences;
    size_t capacity_divergences, capacity_differences;
};

void kl_divergence_release(struct kl_divergence *divergence);

// Adds a position behind which the text has the token `next`. TAPML_NO_MEMORY; TAPML_INVALID if
// `computed` gives no probability to something that has one in `base`.
tapml_status kl_divergence_add(struct kl_divergence *divergence,
                               const struct log_softmax *base,
                               const struct log_softmax *computed,
                               int64_t next) STATUS_USED;

// Sorts what was kept: the order of the positions is lost, and more can be added.
void kl_divergence_sort(struct kl_divergence *divergence);

// The value below which a part of `count` sorted values lie, 0 .. 1, on the line between its two
// neighbours: at `part` * (count - 1), from 0. `count` is at least 1.
double kl_divergence_quantile(const double *sorted, size_t count, double part);

// The root of the mean square of the differences of probabilities, and its standard error.
double kl_divergence_root(const struct kl_divergence *divergence);
double kl_divergence_root_error(const struct kl_divergence *divergence);

// The share of positions with the same likeliest token, and its standard error,
// sqrt(s (1 - s) / (n - 1)).
double kl_divergence_same_top(const struct kl_divergence *divergence);
double kl_divergence_same_top_error(const struct kl_divergence *divergence);
