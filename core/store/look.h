// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `look`: the looks of `tapml-host watch` at a run that found something changed, ran
// something, or found a verdict that has turned.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

struct look_row {
    int64_t id;               // From 1; given by the store.
    int64_t began_s, ended_s; // Seconds since 1970.
    const char *cause;        // What was other than at the look before, in sentences; or "".
    const char *fired;        // The triggers that have fired, with their reasons; or "".
    int64_t everything;       // Cases times targets: what a replay of all would have run.
    int64_t stale;            // Of these, those without a fresh result when it began,
    int64_t replayed;         // those that ran since they were stale,
    int64_t sampled;          // fresh ones that ran as samples,
    int64_t remaining;        // and stale ones that are left.
    int64_t worse, better;    // Verdicts that have turned.
    int64_t tries;            // How often it was tried to tell of them,
    int told;                 // with success.
};

// Writes a look; its `id`, `tries` and `told` are ignored.
tapml_status
look_write(struct store *store, const struct look_row *row, int64_t *out_id) STATUS_USED;

// The last ones, at most LOOKS_SHOWN, the newest first.
enum { LOOKS_SHOWN = 200 };
tapml_status look_list(struct store *store,
                       struct arena *arena,
                       struct look_row **out_items,
                       size_t *out_count) STATUS_USED;

// All of them, the oldest first.
tapml_status look_list_all(struct store *store,
                           struct arena *arena,
                           struct look_row **out_items,
                           size_t *out_count) STATUS_USED;

// Those with turned verdicts of which nobody was told and that were tried less than LOOK_TRIES
// times, the oldest first, at most LOOKS_SHOWN.
enum { LOOK_TRIES = 3 };
tapml_status look_list_untold(struct store *store,
                              struct arena *arena,
                              struct look_row **out_items,
                              size_t *out_count) STATUS_USED;

// Notes that it was tried to tell of a look, and whether it was told.
tapml_status look_tell(struct store *store, int64_t id, int is_told) STATUS_USED;

// Sums over all looks.
struct look_sums {
    int64_t looks, everything, replayed, sampled;
};
tapml_status look_sum(struct store *store, struct look_sums *out_sums) STATUS_USED;
