// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The verdict on a case, from what was measured and what is allowed. A pure function: a replay, a
// start that resumes, a report and a comparison get the same verdict from the same rows, on any
// thread.
#pragma once

#include "base/text.h"
#include "store/output_error.h"
#include "verify/compare.h"

#include <stddef.h>

enum verdict_kind {
    VERDICT_PASS,
    VERDICT_FAIL,        // An output beyond its limit, or written outside.
    VERDICT_ERROR,       // The backend failed: the reason says how.
    VERDICT_UNSUPPORTED, // With the backend's reason.
    VERDICT_SKIPPED,     // Of a derived case also: it cannot be made, or judges no target.
    VERDICT_STALE        // Something else computed it than would now: it says nothing.
};

struct judgement {
    enum verdict_kind kind; // Pass or fail.
    double margin;          // observed / limit of the worst output; at most 1 passes.
    size_t worst;           // That output; the first one if all margins are 0.
};

// Judges a case by its outputs, of which there is one at least, each with its limit. The class of a
// limit is that of the errors. An output without a class has the margin that it is given, and one
// whose errors are no numbers fails.
struct judgement
judgement_make(const struct output_error *errors, const struct compare_limit *limits, size_t count);

// Appends the sentence of a failure: "y[3, 17] is 2, expected 1: 12 ULP, limit 4", and `observed`
// behind it, or that alone if the errors do not say it. The status of `out_text` reports a failure.
void judgement_explain(const struct output_error *error,
                       const struct compare_limit *limit,
                       const char *observed,
                       struct text *out_text);
