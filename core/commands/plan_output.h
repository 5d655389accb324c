// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A plan in words: which operators are where, what crosses, what a token is predicted to take, the
// memory of each place; and what two plans differ in. As text and as members of a JSON object.
//
// One thread. Failures are those of the ground.
#pragma once

#include "base/text.h"
#include "exec/step_count.h"
#include "run/plan_ground.h"

// A plan as it comes to be on the places of a run.
struct plan_shown {
    struct plan_ground *ground;
    const uint8_t *places;             // Of each operator, in a decode.
    struct step_count count;           // Of a call of one token.
    double times_ns[SPACE_PLACES_MAX]; // Predicted, of the operators of each place,
    double crossing_ns;                // of what crosses,
    double whole_ns;                   // and all of it.
    uint32_t unproved;                 // Operators away from the source that may not be there.
};

// `places` is borrowed.
tapml_status plan_output_find(struct plan_ground *ground,
                              const uint8_t *places,
                              struct plan_shown *out_shown) STATUS_USED;

// Appends what a plan is. With `explains` also where the times come from.
void plan_output_text(const struct plan_shown *shown, int explains, struct text *out);
void plan_output_json(const struct plan_shown *shown, struct text *out);

// Appends what moves from one plan to another, and what that costs.
void plan_output_diff_text(const struct plan_shown *a,
                           const struct plan_shown *b,
                           struct text *out);
void plan_output_diff_json(const struct plan_shown *a,
                           const struct plan_shown *b,
                           struct text *out);

enum { PLAN_OUTPUT_SIZE = 24 };

// "1.2 MiB".
void plan_output_size(uint64_t bytes, char out[PLAN_OUTPUT_SIZE]);
