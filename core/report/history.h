// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The cases of several runs, each with what every run made of it: gathered from their reports
// (report/report_data.h), in the order of the first run that has them.
//
// Cases are one if target, instance, phase, shapes, kind, label and content key are the same. Where
// a run has none with the key of another, such as that of a source that was built anew, the cases
// that are left are paired by all of that but the key, in their order.
//
// A history belongs to one thread. All that it points to is borrowed from the reports, or its own.
#pragma once

#include "report/comparison.h"

#include <stddef.h>

struct history_case {
    const char *target; // Its name.
    const json_t *
        *items; // Of the lists `cases` and `derived`, one for each run; NULL: it has none.
};

struct history {
    struct arena *arena;
    const struct comparison_side *runs;
    size_t run_count;
    struct history_case *cases;
    size_t count, capacity;
};

// What a verdict is good for.
enum history_class {
    HISTORY_NONE, // Nothing was judged: unsupported, skipped, stale, or not there.
    HISTORY_GOOD,
    HISTORY_BAD // A failure or an error.
};

// Gathers the cases of at least one run; `runs` outlives the history. The caller releases it.
tapml_status history_read(const struct comparison_side *runs,
                          size_t count,
                          struct history *out_history) STATUS_USED;
void history_release(struct history *history);

// The class of an item; of NULL HISTORY_NONE.
enum history_class history_class_of(const json_t *item);

// The item of the last run that has the case before `run`, and which run that is; NULL if there is
// none. With `run_count` it is the last of all.
const json_t *
history_before(const struct history *history, size_t index, size_t run, size_t *out_run);

// The target of a run by its name, or NULL.
const json_t *history_target(const struct history *history, size_t run, const char *name);
