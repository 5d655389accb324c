// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the outputs of products lose by a delta, over inputs that are known
// (model/delta_calibration.h): of any kind, by cases that it need not have been made with.
#pragma once

#include "base/status.h"
#include "model/delta_calibration.h"

#include <stddef.h>

struct checkpoint;
struct delta;
struct delta_item;

// A weight whose inputs are known.
struct delta_judged_weight {
    const struct delta_item *item; // Of the delta.
    struct delta_effect effect;
};

struct delta_judged {
    struct delta_judged_weight *weights; // First the one that loses most of what changes.
    size_t count;
    struct delta_effect effect; // Of all.
};

// Judges each weight that the delta changes. `made` is the base to which it was applied.
// TAPML_INVALID names a tensor that a model lacks or has in another type or shape. The caller
// releases the result, also after a failure.
tapml_status delta_judge(const struct delta *delta,
                         const struct checkpoint *base,
                         const struct checkpoint *fine,
                         const struct checkpoint *made,
                         const struct delta_calibration *calibration,
                         struct delta_judged *out_judged) STATUS_USED;
void delta_judge_release(struct delta_judged *judged);
