// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `timing`: what the ops cost on a target under the final plan, over one prompt.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY. Times are nanoseconds.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

struct timing_row {
    const char *op;
    uint64_t calls;
    uint64_t launches; // Of kernels; 0 if the target does not count them.
    uint64_t time_ns;  // Of all calls, as exec/trace takes it.
};

tapml_status
timing_write(struct store *store, const char *target, const struct timing_row *item) STATUS_USED;

// Those of a target by op, in `arena`.
tapml_status timing_list(struct store *store,
                         const char *target,
                         struct arena *arena,
                         struct timing_row **out_items,
                         size_t *out_count) STATUS_USED;
tapml_status timing_forget(struct store *store, const char *target) STATUS_USED;
