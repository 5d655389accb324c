// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a plan is like, in the columns of a predictor (choose/plan_model.h) whose weights have
// guesses before anything was measured.
//
// Of a time, in nanoseconds of a token: the predicted time of each kind of operator at each place,
// which counts once; the same of all kinds of a place, and the calls there, by which a place is
// wrong as a whole: a call that is replayed alone is waited for, one of a model is not; values that
// cross and their bytes, for each place but the source; and 1. Of a divergence, in nats: how many
// operators have reduced activations, by kind and by third of the model.
//
// Plain data; one thread. Results are in `arena`. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "exec/step_count.h"

#include <tapml/draft/policy.h>

struct arena;

struct plan_columns {
    const tapml_policy_ops *question;
    const uint8_t *is_reduced; // Of each place; NULL: the columns are those of a time.
    uint32_t *kinds;           // Of each operator.
    size_t kind_count;
    size_t width;
    double *guesses, *spreads; // Of the weights before anything was measured. Of a divergence 0.
};

tapml_status plan_columns_init(const tapml_policy_ops *question,
                               const uint8_t *is_reduced,
                               struct arena *arena,
                               struct plan_columns *out_columns) STATUS_USED;

// The guesses and spreads once plans were measured, in the order in which they were. Of a time:
// what the plan with most calls at a place has taken says by which factor the times of that place
// are wrong, whatever the kind. Of a divergence: what the first plan diverges by is shared by its
// reduced operators. Without any, those above.
void plan_columns_guess(const struct plan_columns *columns,
                        const double *const *rows,
                        const double *values,
                        size_t count,
                        double *out_guesses,
                        double *out_spreads);

// Fills in `width` columns of a plan.
void plan_columns_fill(const struct plan_columns *columns,
                       const uint8_t *places,
                       const struct step_count *count,
                       double *out_columns);
