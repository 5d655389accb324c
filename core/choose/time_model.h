// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A predictor of the time of a case: ridge regression of the logarithm of the time on features and
// signature (Hoerl and Kennard 1970, w = (X'X + l I)^-1 X'y). It knows its own error: that of five
// fifths of the known times, each predicted from the other four, which also chooses l.
//
// Pure; any thread. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "store/feature.h"

struct arena;

enum { TIME_MODEL_LEAST = 16 }; // Known times, below which there is no predictor.

struct time_model_input {
    const struct feature_case *cases;
    size_t count;
    const uint32_t *groups; // Of each case, below `group_count`.
    size_t group_count;
    const double *times_ns; // Of each case; 0: it is not known.
};

struct time_model {
    size_t known;     // Times that it was fitted to.
    double penalty;   // l
    double error;     // Root mean square of log(predicted / measured), held out.
    double factor;    // Half of the held-out times are within this factor: 1.2.
    double total;     // Predicted over measured, of the sum of all held-out times.
    double *times_ns; // Predicted, of each case; in `arena`.
};

// Fits the times that are known, and predicts those of all. `*out_has` is 0 where too few are
// known.
tapml_status time_model_fit(const struct time_model_input *input,
                            struct arena *arena,
                            struct time_model *out_model,
                            int *out_has) STATUS_USED;
