// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The result table: one line for each op kind of a target, then what is accused and what is left.
#pragma once

#include "offload/loop.h"
#include "store/findings.h"
#include "verify/verdict.h"

struct report_target {
    const char *name;
    const struct backend_info *info;
    const struct graph *graph;
    struct store *store;
    const struct verdict_list *verdicts;
    const struct loop_result *result;
    const struct findings *findings; // What stays on the source, and times under the final plan.
    const char *backend;             // As the run names it.
    const char *faults;              // What is planted on it, or "".
    int is_wrong;                    // So that the run ends with 1.
};

// Prints the table to the standard output.
tapml_status report_print(const struct report_target *target) STATUS_USED;

// Prints verdicts alone, by op kind, and up to `failures_max` failed cases.
tapml_status report_print_verdicts(const struct verdict_list *list,
                                   size_t failures_max) STATUS_USED;
