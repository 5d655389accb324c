// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a choice of points is worth: the sum of their utilities less the similarity of neighbours
// that are both chosen,
//
//   f(S) = sum over v in S of u(v) - w * sum over edges {a, b} within S of s(a, b).
//
// It is the pairwise objective of arXiv 2402.16442 (section 3): submodular, since what a point adds
// only falls as others are chosen, and not always monotone, since a point whose neighbours are all
// chosen may add less than nothing.
//
// Plain data, any thread.
#pragma once

#include "choose/nearest.h"

struct objective {
    const struct nearest_graph *graph;
    const double *utilities; // Not negative.
    const double *costs;     // Above 0; NULL: each costs 1.
    double weight;           // w; not negative.
};

// What point `index` costs.
double objective_cost(const struct objective *objective, size_t index);

// u(v) less what the neighbours of a point take from it that `is_in` says are chosen; of all of
// them where that is NULL.
double objective_gain(const struct objective *objective, const uint8_t *is_in, size_t index);

// f of a choice.
double objective_value(const struct objective *objective, const uint8_t *is_in);

enum objective_bound {
    OBJECTIVE_BY_UTILITIES, // No choice within the budget has more than the largest utilities.
    OBJECTIVE_BY_GAINS      // Nor more than f(S) and the largest gains that are left.
};

// How good a choice is at least.
struct objective_certificate {
    double value;               // f(S)
    double most;                // No choice within the budget has more,
    enum objective_bound bound; // which follows from this.
    double share;               // value / most; 1 if nothing can be chosen.
};

// Certifies a choice within `budget`. The bound by gains is that of a monotone f: f(S) plus the
// largest gains of what is left. Where S has points that could add less than nothing to some other
// choice, what they could take at most is added, so that it holds for any f of this form:
//
//   f(T) <= f(T with S) + loss <= f(S) + gains(T without S) + loss,
//   loss = sum over v in S of max(0, w * sum of all s(v, .) - u(v)).
//
// The smaller one of both bounds counts. TAPML_NO_MEMORY is the one failure.
tapml_status objective_certify(const struct objective *objective,
                               const uint8_t *is_in,
                               double budget,
                               struct objective_certificate *out_certificate) STATUS_USED;
