// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Splits cases among shards that do not talk to each other: longest processing time first (R. L.
// Graham, Bounds on Multiprocessing Timing Anomalies, 1969), each to the shard that has least after
// it. A shard that has the first case of a class does what the class needs once, its setup.
//
// Whatever has one key goes to one shard. All numbers are whole: the same input gives the same
// split on every machine, whatever its processor and its C library make of logarithms.
//
// Pure; any thread. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { SPLIT_SHARDS_MAX = 4096 };

struct split_item {
    const char *key; // Its content; "": like no other item.
    uint32_t class_; // Items of one key have one class. Numbers are below that of the items.
    uint64_t cost;   // In any unit, the same of all items,
    uint64_t setup;  // and that of the class.
};

// Gives each item a shard below `shards`, from 1 to SPLIT_SHARDS_MAX. The order of the items does
// not matter, unless their keys are "".
tapml_status split_run(const struct split_item *items,
                       size_t count,
                       uint32_t shards,
                       uint32_t *out_shards) STATUS_USED;

// What each of the `shards` has to do if items are those of the shards `of`, with its setups.
tapml_status split_measure(const struct split_item *items,
                           size_t count,
                           const uint32_t *of,
                           uint32_t shards,
                           uint64_t *out_loads) STATUS_USED;

// Puts a cost in the place of each 0, which stands for one that is not known: the mean of those
// that are; 1 if none is, which splits by counts.
void split_fill_costs(struct split_item *items, size_t count);
