// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What an offload has found of a target, kept when it ends: which instances stay on the source and
// why, and what its ops cost under the final plan. So a second start of a finished run says the
// same.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

// An instance that stays on the source.
struct finding {
    const char *instance;
    const char *kind; // "alone": accused by a case of its own; "together"; "refused" by the target.
    double margin;    // NaN where there is none.
    const char *reason;
    int64_t evidence;       // Of an accused: what speaks against it (offload/trial.h).
    uint64_t tried, failed; // How often.
};

// An op under the final plan, over one prompt.
struct finding_time {
    const char *op;
    uint64_t calls, launches, time_ns;
};

struct findings {
    int64_t finished_s; // In seconds since 1970, when they were written.
    struct finding *items;
    size_t count;
    struct finding_time *times;
    size_t time_count;
};

// Writes all of a target as one transaction, with the time of day as `finished_s`.
tapml_status findings_write(struct store *store,
                            const char *target,
                            const struct findings *findings) STATUS_USED;

// Reads them into `arena`, instances and ops by name. TAPML_NOT_FOUND where the target's offload
// has not ended.
tapml_status findings_read(struct store *store,
                           const char *target,
                           struct arena *arena,
                           struct findings *out_findings) STATUS_USED;

// The finding of an instance, or NULL; the time of an op, or NULL.
const struct finding *findings_find(const struct findings *findings, const char *instance);
const struct finding_time *findings_time(const struct findings *findings, const char *op);

// Forgets those of a target, whose plugin is another one than it was.
tapml_status findings_forget(struct store *store, const char *target) STATUS_USED;
