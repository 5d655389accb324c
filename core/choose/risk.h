// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How likely a kernel's mistake shows in a case, guessed from its features: sizes that no block
// divides, layouts that are not the plain one, values at the edge of what its signature has, and
// ops that have failed before. It is a guess that orders cases, and no probability.
//
// Pure; any thread.
#pragma once

#include "store/feature.h"

struct risk {
    double remainders; // Each from 0 to 1.
    double extremes;
    double failures;
};

// The parts as one number from 0 to 1.
double risk_whole(const struct risk *risk);

// The risks of cases in `group_count` groups. `failures` is the share of the cases of each case's
// op that have failed, or NULL. TAPML_NO_MEMORY is the one failure.
tapml_status risk_measure(const struct feature_case *cases,
                          size_t count,
                          const uint32_t *groups,
                          size_t group_count,
                          const double *failures,
                          struct risk *out_risks) STATUS_USED;
