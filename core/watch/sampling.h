// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A few fresh cases of a target, replayed although nothing says that they need to be: what changes
// without a name, such as a driver that keeps its version or a device that gets hot, shows in them.
// Triggers `drift` and `performance`.
//
// A store belongs to one thread. Failures are those of verdicts_make, of the store, and
// TAPML_NO_MEMORY.
#pragma once

#include "verify/verdict.h"

#include <stdint.h>

struct arena;
struct store;
struct trigger_facts;

// A sampled case: by how much it has moved.
struct sampling_case {
    const char *key, *op;
    double drift;      // The factor by which its margin is another one; infinite: its verdict is.
    double time_ratio; // Its time over that of before; NaN: there is nothing to compare with.
};

// What was found on the samples of one op.
struct sampling_op {
    const char *op;
    double drift; // The largest factor by which a margin has moved; infinite: a verdict turned.
    double performance; // By which share the times have moved, at the median.
    int is_moved;       // Its results were forgotten.
};

// In the arena.
struct sampling {
    struct sampling_case *cases;
    size_t replayed; // Of them.
    struct sampling_op *ops;
    size_t op_count;
};

// Sets what samples say of their ops.
tapml_status sampling_sum(struct sampling *sampling, struct arena *arena) STATUS_USED;

// Replays `count` of the fresh cases of a target, drawn by `seed`, and compares them with the rows
// of `watched`; the largest numbers go into `io_facts`. `options` say what they are replayed on:
// its `case_id` and `fresh` are set here. The new results take the place of the old ones.
tapml_status sampling_run(const struct verdict_options *options,
                          size_t count,
                          uint64_t seed,
                          struct arena *arena,
                          struct trigger_facts *io_facts,
                          struct sampling *out_sampling) STATUS_USED;

// Forgets the results of the ops whose samples have moved by more than `drift` or `performance`, so
// that they count as stale. Several statements: call it inside of a transaction.
tapml_status sampling_forget(struct sampling *sampling,
                             struct store *store,
                             const char *target,
                             double drift,
                             double performance) STATUS_USED;
