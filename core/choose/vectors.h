// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Features as points in a space where a distance means something: sizes and magnitudes as
// logarithms, each column with mean 0 and variance 1 over the cases that are compared. What does
// not apply to a case is the mean.
//
// Pure; any thread. Results are in `arena`. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "store/feature.h"

struct arena;

// A number for each case by its signature, from 0 in the order in which signatures first appear.
tapml_status vectors_group(const struct feature_case *cases,
                           size_t count,
                           struct arena *arena,
                           uint32_t **out_groups,
                           size_t *out_group_count) STATUS_USED;

// The value of a column as it is compared, at most 1e6 where it is no logarithm; NaN where the case
// has none.
double vectors_value(const struct feature_row *row, size_t column);

// FEATURE_COUNT floats for each case. Columns are scaled within each of `group_count` groups, or
// over all cases if `groups` is NULL.
tapml_status vectors_make(const struct feature_case *cases,
                          size_t count,
                          const uint32_t *groups,
                          size_t group_count,
                          struct arena *arena,
                          float **out_values) STATUS_USED;
