// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A query over the runs in folders: finds their stores, fills the views that the query reads, and
// gives the answer as a text. Stores are only read, each as it is at one moment: a host may work on
// it.
#pragma once

#include "base/text.h"
#include "report/query_output.h"

struct query;

struct querying_options {
    const char *const *folders; // Of runs, or folders of such folders.
    size_t folder_count;
    const char *sql;
    enum query_form form;
    int64_t seconds, memory_mib, rows; // At most; each above 0.

    // Takes each row in place of a text (query_value); a status that is not TAPML_OK ends it. Or
    // NULL.
    tapml_status (*take)(void *user, struct query *query);
    void *user;
};

// Appends the answer. TAPML_NOT_FOUND if a folder has no run, TAPML_INVALID for a store that cannot
// be read and for a wrong query, TAPML_CANCELLED after a signal (run/interrupt.h).
// TAPML_UNAVAILABLE if time is over, and TAPML_NO_MEMORY if the query needs more, without an
// answer; TAPML_UNAVAILABLE also if there are more rows: then `out_text` has the first ones.
tapml_status querying_run(const struct querying_options *options,
                          struct text *out_text) STATUS_USED;

// Appends what can be asked: the views with their columns.
void querying_print_views(struct text *out_text);
