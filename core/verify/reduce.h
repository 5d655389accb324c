// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Makes a case that fails smaller while it still fails: rows, heads, columns, whatever the op's
// schema names (verify/cut.h).
//
// Halves, then quarters and so on are left out in front or behind, axis by axis. What a cut case
// should give is computed by the first device that calibrates the op, and the verdict is that of a
// replay of all cases, with limits of its own; a cut that does not fail any more is not taken.
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
    unsigned repeats; // Replays of a trial until one fails, for what fails sometimes; 0: one.

    // Called after each trial; a status that is not TAPML_OK ends it. Or NULL.
    tapml_status (*progress)(void *user, size_t done, size_t all);
    void *user;
};

struct reduce_result {
    struct arena *arena;     // Owns what is not the case's own; NULL where nothing was cut.
    struct carved_case item; // The whole case where nothing was cut. Names are the case's.
    unsigned trials;         // Replays on the target.
};

// Reduces a case that fails, whose weights are inlined; it is borrowed, and outlives the result. A
// case that cannot be cut, or whose op no device computes, is kept whole. The caller releases the
// result.
tapml_status reduce_case(const struct reduce_options *options,
                         const struct carved_case *item,
                         const struct compiled_op *schema,
                         struct reduce_result *out_result) STATUS_USED;
void reduce_result_release(struct reduce_result *result);
