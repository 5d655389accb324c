// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the operators of a model take at a place in the decode of a token, from the cases of a store
// and their times: the mean of the cases of an instance, with what was not replayed predicted
// (choose/time_model.h). Cases of the prefill stand for an instance that has no others. Where the
// run has traced its final plan (store/timing.h), the times of a kind have the mean of that.
//
// A store belongs to one thread. Failures are those of the store, and TAPML_NO_MEMORY.
#pragma once

#include "graph/graph.h"

struct store;

struct plan_times {
    size_t known;     // Cases with a time that was measured.
    size_t predicted; // Operators whose time is a prediction.
    size_t traced;    // Operators of kinds that a run was traced with.
    double factor;    // Half of the held-out times are predicted within this factor; NaN: none is.
};

// Times on `target`, or on the source if it is "": nanoseconds of each operator of `graph`, NaN
// where nothing is known.
tapml_status plan_times_find(struct store *store,
                             const char *target,
                             const struct graph *graph,
                             double *out_times_ns,
                             struct plan_times *out_times) STATUS_USED;
