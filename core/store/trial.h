// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `trial`: what a model, as it was encoded and planned, gave on a chunk of a text
// (run/trials.h). A row is known by its key alone, which stands for everything that its value
// depends on.
//
// A store and what is read from it belong to one thread. Failures are those of the store, which
// name it.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <stdint.h>

struct store;

struct trial_row {
    char key[HASH_TEXT];
    const char *name;    // What was tried, for people. Of a row that was read NULL.
    const char *measure; // "kl", "perplexity" or "speed". Likewise.
    double value;        // Of the measure.
    double beside;       // What was found by the way; NaN: nothing.
    int64_t time_ns;     // That it took.
};

// Reads the row of a key; `*out_has` is 0 and `*out_row` stays where there is none.
tapml_status trial_find(struct store *store,
                        const char *key,
                        struct trial_row *out_row,
                        int *out_has) STATUS_USED;

// Writes a row, in the place of an earlier one.
tapml_status trial_write(struct store *store, const struct trial_row *row) STATUS_USED;
