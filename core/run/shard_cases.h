// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The cases of one of several processes (`--shard I/N`) that see the same carved store and do not
// talk to each other: each reads that store, which is opened to be read alone, splits its cases
// among all shards (choose/split.h), and has its own in a store of its own, in a folder of its own.
// `tapml-host store merge` joins what they have found.
//
// A split depends on the carved cases alone, and on nothing that a target has run: a shard that is
// started again, on whichever machine, has the cases that it had.
//
// One thread for both stores. Failures are those of the stores and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "config/shard.h"

#include <stddef.h>

struct arena;
struct choice_settings;
struct options;
struct store;

// What a shard has.
struct shard_cases {
    struct case_shard shard;
    struct store *whole; // Of all cases, to be read.
    size_t chosen;       // Cases of all shards together: all, or what [select] chooses,
    size_t own;          // and of this one.
    double cost;         // Its share of the predicted time, times the number of shards: 1 is even.
    double even_cost;    // The largest share of any shard, in the same unit,
    double count_cost;   // and what it would be with equal counts, dealt in turn.
};

// The folder "shard-I-of-N" below `folder`, in `arena`. NULL: no memory.
const char *
shard_cases_folder(const struct case_shard *shard, const char *folder, struct arena *arena);

// Opens the store `path` of all cases, takes over into `store` those of this shard with what is
// known of their limits, and notes there which shard it is. With `choice`, or NULL, what is split
// is what that chooses. Cases of an earlier start stay. The caller releases the shard.
// TAPML_INVALID for a bundle, and for a budget in seconds, which is one process's;
// TAPML_PRECONDITION if `store` has cases of another run, or others under the same labels.
tapml_status shard_cases_take(const struct case_shard *shard,
                              const char *path,
                              const struct choice_settings *choice,
                              struct store *store,
                              struct shard_cases *out_cases) STATUS_USED;
void shard_cases_release(struct shard_cases *cases);

// A sentence: which shard, how many cases, how even the split is.
enum { SHARD_CASES_TEXT = 256 };
void shard_cases_print(const struct shard_cases *cases, char out_text[SHARD_CASES_TEXT]);

// Prints what a merged store lacks: of each target with results the number of cases that have none,
// and of which splits which shards are not there. Of a store that no shard has written nothing is
// said of shards.
tapml_status shard_cases_print_missing(struct store *store) STATUS_USED;
