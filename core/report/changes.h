// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What one run or several, in the order of time, say together, as one JSON document: which verdicts
// have flipped, which margins have crept, which ops have moved in time beyond its noise, and what
// fails in the last run, be it new or known. It is the member `changes` of a comparison
// (docs/comparison.schema.json), made from the reports and a baseline and from nothing else.
#pragma once

#include "report/baseline.h"
#include "report/comparison.h"

struct changes_options {
    const struct comparison_side *runs; // At least one.
    size_t count;
    struct baseline *baseline; // Or NULL. Its entries count what they have met.
    const char *baseline_path; // Of that.
};

// The caller owns the document (json_decref).
tapml_status changes_create(const struct changes_options *options,
                            json_t **out_changes) STATUS_USED;

// Whether something has become worse: failures that are new, or known until a day that is past;
// cases that passed and are not judged any more. With `is_timed` also a target or an op that is
// slower beyond the noise.
int changes_is_worse(const json_t *changes, int is_timed);

// Whether a verdict has flipped in any way.
int changes_has_flips(const json_t *changes);
