// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the cases of a store take on a target, from its ledger: the times of their calls, which are
// predicted (choose/time_model.h) where a case was not replayed, and from what each start has held
// (store/usage.h) what a case takes beside its call, and what opening the target takes.
//
// - transfer: in which the device was at work for the cases beside their calls, in proportion to
//   the bytes of a case (feature `bytes`);
// - host: reading, judging and writing, the same for each case. Starts that had limits to measure
//   say nothing of it, since a later run finds these.
//
// What the first case of an op takes beyond any other, as the device makes its kernels, is paid
// once a start, so that it is told beside the work.
//
// Starts without limits to measure are those of members of a pool: where there are some, they alone
// count, and the times of calls are scaled to what theirs took in the mean.
//
// A store belongs to one thread. Failures are those of the store, and TAPML_NO_MEMORY.
#pragma once

#include "base/rate.h"
#include "choose/choice.h"

struct arena;
struct store;

// What a case takes on the host where no start says it: 1 ms was measured of cases of the embedded
// model, and more of larger ones.
enum { CASE_PRICE_EACH_NS = 1500000 };

struct case_price {
    double *seconds; // Of each case that is to run, in `arena`,
    int64_t *ids;    // with its id, likewise;
    size_t count;    // of which there are so many,
    double work_s;   // and of all of them.

    size_t predicted; // Cases whose call was not measured on the target.
    double factor;    // Half of held-out times are predicted within it; NaN: nothing was predicted.
    int is_of_source; // Predicted calls are those of the source: on the target too few are known.

    // Means of a case.
    double call_s, transfer_s, host_s;
    int is_host_assumed; // No start says it.

    double start_s; // The median of those that count; NaN: there is none.
    size_t starts;
    double firsts_s;    // The first cases of the ops of those that run, beyond what others take;
    size_t ops;         // there are so many.
    const char *device; // Of the last start; "".
    struct rate rate;   // Of the last start that had one.
};

// Prices the cases that `settings` choose, whose order does not matter. TAPML_NOT_FOUND if the
// store knows no such target, TAPML_PRECONDITION if nothing is known of its times.
tapml_status case_price_find(struct store *store,
                             const char *target,
                             const struct choice_settings *settings,
                             struct arena *arena,
                             struct case_price *out_price) STATUS_USED;
