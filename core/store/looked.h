// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `looked`: what each look of `tapml-host watch` has seen of single cases, so that other
// triggers can be tried on what has happened (watch/simulation.h).
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

// Why a look saw a case.
#define LOOKED_NEW    "new"    // Nobody had watched it.
#define LOOKED_CHANGE "change" // What its result depends on was other than before.
#define LOOKED_SAMPLE "sample" // It was a sample, or other samples of its op had moved.
#define LOOKED_RUN    "run"    // Another command had judged it, otherwise than it was.
#define LOOKED_GONE   "gone"   // The run does not have it any more.

struct looked_row {
    int64_t look; // That saw it (store/look.h).
    const char *target, *key, *op;
    const char *cause;          // LOOKED_NEW and so on.
    int64_t stale_s;            // Since when it had had no fresh result, in seconds since 1970; 0
                                // where nothing says that it had none.
    const char *before, *after; // Verdicts, as a report names them; "" of a case that nobody had
                                // watched, or that is gone.
    int64_t time_ns;            // Of the call.

    // Of a sample: by which factor its margin was another one, infinite if its verdict was, and its
    // time over that of before. NaN: it was none, or there is nothing to compare with.
    double drift, time_ratio;
};

// Writes a row, in the transaction at hand, whose look is written; in the place of one of the same
// look, target and key.
tapml_status looked_write(struct store *store, const struct looked_row *row) STATUS_USED;

// Writes a row for each watched case that the store does not have any more, before they are pruned
// (watched_prune).
tapml_status looked_write_gone(struct store *store, int64_t look) STATUS_USED;

// All rows, by look, target and key.
tapml_status looked_list(struct store *store,
                         struct arena *arena,
                         struct looked_row **out_items,
                         size_t *out_count) STATUS_USED;

// Deletes the rows of all but the last LOOKED_LOOKS looks.
enum { LOOKED_LOOKS = 1000 };
tapml_status looked_prune(struct store *store) STATUS_USED;
