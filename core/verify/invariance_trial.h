// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case that is run to compare its bits with those of another run, and what such comparisons come
// to. One thread, that of the examiner. Failures are those of the examiner, and TAPML_NO_MEMORY.
#pragma once

#include "verify/examiner.h"
#include "verify/invariance_axis.h"

#include <stddef.h>

struct arena;

// What an axis of an op comes to; a later one takes the place of an earlier one.
enum invariance_kind {
    INVARIANCE_UNTRIED,
    INVARIANCE_EQUAL,  // The bits are the same.
    INVARIANCE_WITHIN, // Bits differ, and all are right within the limits of their cases.
    INVARIANCE_WRONG   // One is not, or its call failed.
};

// "equal bits", "within limits", "wrong", "not tried"; static.
const char *invariance_trial_kind_name(enum invariance_kind kind);

struct invariance_finding {
    enum invariance_kind kind;
    uint64_t size;        // The smallest at which `kind` shows; 0 of equal bits.
    uint64_t tried;       // Comparisons.
    const char *instance; // Of the first case that shows it; or "".
    const char *shape;    // Its shape class; or "".
    double margin;        // The worst of all; NaN: nothing was judged.
    const char *reason;   // Of what is wrong, or was not tried; or "".
};

// A finding of nothing.
struct invariance_finding invariance_trial_none(void);

// What a run of a case came to. All is in the arena of the run.
struct invariance_run {
    const struct carved_case *item;
    const struct compiled_op *schema;
    enum verdict_kind kind;
    double margin;
    const char *reason;
    uint32_t output_count;
    struct replay_output outputs[REPLAY_OUTPUTS_MAX];
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
};

// What is tried, and where findings go.
struct invariance_trial {
    struct examiner *examiner;
    const struct checkpoint *checkpoint; // Of weights that are cut; or NULL.
    const struct compiled_op *schema;
    struct arena *texts; // Of the finding.
    struct invariance_finding finding;
};

// Runs a kept case, which is judged by what it has; `is_derived`: one that is made, of which the
// oracle says what is right, in `item`. Where it cannot, `out_run` is skipped, with its reason.
tapml_status invariance_trial_run(struct invariance_trial *trial,
                                  struct carved_case *item,
                                  int is_derived,
                                  struct arena *arena,
                                  struct invariance_run *out_run) STATUS_USED;

// Rows of a run: of its outputs along their first axis. Of a state with a region they are counted
// from its begin; any other state is taken as a whole, where `has_states` says so.
struct invariance_rows {
    const struct invariance_run *run;
    int64_t begin, count; // A count of 0: all, from 0 on.
    int has_states;
};

// Whether the outputs of two runs have the same bits in as many rows of each.
int invariance_trial_is_equal(struct invariance_rows one, struct invariance_rows other);

// Whether what is expected of both is the same there, within the limits of `one`: the reference
// agrees that these rows are to be the same.
int invariance_trial_agrees(struct invariance_rows one, struct invariance_rows other);

// Adds what a run came to; `is_equal`: its bits are those it was compared with.
tapml_status invariance_trial_note(struct invariance_trial *trial,
                                   const struct invariance_run *run,
                                   int is_equal,
                                   uint64_t size) STATUS_USED;

// Notes why nothing was tried, unless something was, or a reason is there.
tapml_status invariance_trial_skip(struct invariance_trial *trial, const char *reason) STATUS_USED;
