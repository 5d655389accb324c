// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Makes a failing case smaller as long as it still fails: in rows, heads, columns, along every
// symbol of the op's schema (verify/cut.h).
//
// Halves, then quarters and so on are left out in front or behind, axis by axis. The expected
// outputs of a cut case are computed by the first device that calibrates the op. Its verdict is
// made as for a kept case, with limits of its own; a cut that does not fail any more is dropped.
//
// One thread. Failures are those of the devices that calibrate and of the target.
#pragma once

#include "plugin/registry.h"
#include "store/case.h"

enum { REDUCE_TRIALS_MAX = 64 };

struct reduce_options {
    struct registry *registry;
    struct backend *backend; // The target.
    unsigned trials_max;     // 0: REDUCE_TRIALS_MAX.
    unsigned repeats;        // Replays of a cut until one fails, for intermittent failures; 0: one.

    // Called after each trial; a status that is not TAPML_OK ends the search, which returns it. Or
    // NULL.
    tapml_status (*progress)(void *user, size_t done, size_t all);
    void *user;
};

struct reduce_result {
    struct arena *arena;     // Owns the new contents of `item`; NULL if nothing was cut.
    struct carved_case item; // The whole case if nothing was cut. Borrows the names of the case.
    unsigned trials;         // Replays on the target.
};

// Reduces a failing case with inlined weights, which is borrowed and outlives the result. A case
// that cannot be cut, or whose op no calibrating device computes, stays whole. The caller releases
// the result.
tapml_status reduce_case(const struct reduce_options *options,
                         const struct carved_case *item,
                         const struct compiled_op *schema,
                         struct reduce_result *out_result) STATUS_USED;
void reduce_result_release(struct reduce_result *result);
