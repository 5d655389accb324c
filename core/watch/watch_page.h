// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The page of `tapml-host watch`, in the manner of the report's (report/report_html.h), which loads
// itself again: what the verdicts are, and of each look what had changed, what ran again, which
// verdicts have turned, and the first difference.
//
// One thread. Failures are those of the store and TAPML_NO_MEMORY.
#pragma once

#include "base/text.h"

struct store;

struct watch_page_options {
    struct store *store;
    const char *dir;     // Of the run.
    int64_t looked_s;    // When the last look ended, in seconds since 1970.
    int64_t reload_s;    // After how many seconds the page loads itself again.
    const char *trouble; // Why the last look could not be made, in a sentence; or NULL.
};

tapml_status watch_page_print(const struct watch_page_options *options,
                              struct text *out) STATUS_USED;
