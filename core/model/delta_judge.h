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

struct delta_judged {
    size_t weights; // Whose inputs are known.
    struct delta_effect effect;
};

// Judges each weight that the delta changes. `made` is the base to which it was applied.
// TAPML_INVALID names a tensor that a model lacks or has in another type or shape.
tapml_status delta_judge(const struct delta *delta,
                         const struct checkpoint *base,
                         const struct checkpoint *fine,
                         const struct checkpoint *made,
                         const struct delta_calibration *calibration,
                         struct delta_judged *out_judged) STATUS_USED;
