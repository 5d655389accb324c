// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The lists of a report whose items have columns, and what each item is made from. A column more is
// a line in a table of report_items.c, and one in docs/report.schema.json, which a test compares
// with these tables.
//
// All that an item points to is borrowed until its object is made. Times are nanoseconds.
#pragma once

#include "report/report_lines.h"
#include "report/report_list.h"
#include "store/carved.h"
#include "store/result.h"
#include "store/timing.h"
#include "verify/verdict.h"

// A kept case or a derived one. The page has some of it as words about a blamed instance.
struct report_case {
    struct verdict verdict;
    struct result_row result; // That the verdict was read from, if it was.
    const char *name;         // Of the verdict's kind.
    const char *freshness;    // Its name.
    const char *key;          // Of its content, in hexadecimal.
    struct carved_origin origin;
    int has_origin; // It is wanted and known.
};

// An op kind on a target.
struct report_op {
    struct report_line line;
    double margin; // The worst; NaN without cases.
    const struct verdict_list *verdicts;
    uint64_t cases_source_ns; // Of the kept cases.
    struct timing_row timed;  // All 0 if it did not run on the target.
};

// An instance, and what the cases say of it.
struct report_instance {
    const char *instance, *op, *state;
    uint64_t cases, failed, not_compared;
    double margin; // The worst; NaN where nothing was compared.
    uint64_t replay_ns;
    const char *reason; // Why the target does not have it, or it was not judged; or NULL.
};

// What was not compared, for one reason.
struct report_uncovered {
    const char *what, *op, *reason;
    const char *first; // An instance, or what is special about a derived case.
    uint64_t count;
};

extern const struct report_list report_items_cases;
extern const struct report_list report_items_ops;
extern const struct report_list report_items_times; // Of ops, in the text alone.
extern const struct report_list report_items_instances;
extern const struct report_list report_items_uncovered;
