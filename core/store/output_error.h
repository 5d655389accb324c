// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `output_error`: what was measured of each output of a case that a target ran. Verdict and
// margin are no columns: they are computed from these rows and the limits (verify/judgement.h). A
// store and what is read from it belong to one thread.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

// Measures as of `struct compare_result` (verify/compare.h).
struct output_error {
    const char *param;  // The output: "y".
    const char *class_; // Which measure has a limit: "exact", "elementwise", "reduction"; "": none,
                        // and `margin` is all that is known.
    int is_equal;       // In every bit.
    double ulp;         // The largest difference, in units in the last place of f32.
    double nmse;        // sum (a - b)^2 / sum b^2
    double row_error;   // Of the worst row, in parts of its root mean square.
    double cosine;      // Of the angle between both; NaN where an earlier version kept none.
    uint64_t non_finite; // Elements that are NaN or infinite on one side only.
    int is_outside; // Written outside of the output or not all of it, as the result's reason says.

    // The worst element: the first one that is not finite on one side, else the largest difference.
    const char *place; // "3, 17"; "" of a scalar.
    double expected, computed;

    double margin; // observed / limit, of a store that kept no errors; else NaN.
};

// Copies errors with their texts into `arena`. TAPML_NO_MEMORY is its one failure.
tapml_status output_error_copy(const struct output_error *items,
                               size_t count,
                               struct arena *arena,
                               const struct output_error **out_items) STATUS_USED;

// Writes the errors of a result that the store has, in the order of the outputs and in the
// transaction at hand. Fails as SQLite does: a full disk, a store that is locked.
tapml_status output_error_write(struct store *store,
                                const char *target,
                                int64_t case_id,
                                const struct output_error *items,
                                size_t count) STATUS_USED;

// The errors of a result.
struct output_error_group {
    int64_t case_id;
    struct output_error *items; // In the order of the outputs.
    size_t count;
};

// Reads the errors of all results of a target that have some, in the order of their cases, into
// `arena`, which owns the texts too.
tapml_status output_error_groups(struct store *store,
                                 const char *target,
                                 struct arena *arena,
                                 struct output_error_group **out_groups,
                                 size_t *out_count) STATUS_USED;

// Reads the errors of a result in the order of the outputs, into `arena`, which owns the texts too.
// None are no failure.
tapml_status output_error_list(struct store *store,
                               const char *target,
                               int64_t case_id,
                               struct arena *arena,
                               struct output_error **out_items,
                               size_t *out_count) STATUS_USED;
