// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `watched`: the last verdict on each case of a target that `tapml-host watch` has seen.
// Results are deleted once they are stale; these rows stay, so that a verdict that turns is found
// however often the host was killed on the way to the new one.
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

struct watched_row {
    const char *key;     // Content key of the case in hexadecimal, or WATCHED_DRIVER.
    const char *op;      // "" of a driver.
    const char *verdict; // As the report names it.
    double margin;       // NaN: nothing was compared.
    int64_t time_ns;     // Of the call.
    int64_t judged;      // How often a verdict was seen that was made anew,
    int64_t turns;       // and how often it was another one.
    int64_t stale_s;     // Since when it is stale, in seconds since 1970; 0: it is fresh.
};

#define WATCHED_DRIVER "driver" // The key of what the check of a target's driver came to.

// All of a target, by their keys.
tapml_status watched_list(struct store *store,
                          const char *target,
                          struct arena *arena,
                          struct watched_row **out_items,
                          size_t *out_count) STATUS_USED;

// The row of a key among those of `watched_list`, or NULL. [any]
const struct watched_row *
watched_find(const struct watched_row *items, size_t count, const char *key);

// Writes a row, in the place of an earlier one.
tapml_status
watched_write(struct store *store, const char *target, const struct watched_row *row) STATUS_USED;

// Deletes the rows of cases that the store does not have any more.
tapml_status watched_prune(struct store *store) STATUS_USED;
