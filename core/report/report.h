// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A report as text: of each target its verdict, a table with one line for each op, what is blamed
// and what is left; at the end the verdicts again. No table is wider than 100 columns. On a
// terminal that wants it verdicts and lines of what is wrong have a colour.
#pragma once

#include "verify/verdict.h"

#include <jansson.h>

struct report_options {
    const char *dir; // Of the run, where its bundles are.
    int is_later;    // Another target was printed before.
    int is_verbose;  // With the times of the ops, and what was spent to find what is wrong.
};

// Prints a target of a report's document (report/report_data.h) to the standard output.
tapml_status report_print(const json_t *target, const struct report_options *options) STATUS_USED;

// The same of a target of a run whose offload has ended, from the rows of its store. Sets
// `*io_is_wrong` if something is wrong with it.
tapml_status report_print_target(struct store *store,
                                 const char *name,
                                 const struct report_options *options,
                                 int *io_is_wrong) STATUS_USED;

// Prints the end of a report's text: what the run has cost (report/report_usage.h), and the
// verdicts (report/report_verdict.h). `dir` is the folder of the run.
tapml_status report_print_end(const json_t *report, const char *dir) STATUS_USED;

// Prints verdicts alone, by op kind, and up to `failures_max` failed cases.
tapml_status report_print_verdicts(const struct verdict_list *list,
                                   size_t failures_max) STATUS_USED;
