// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The result table: one line for each op of a target, then what is blamed and what is left.
#pragma once

#include "verify/verdict.h"

#include <jansson.h>

// Prints a target of a report's document (report/report_data.h) to the standard output.
void report_print(const json_t *target);

// The same of a target of a run whose offload has ended, from the rows of its store. Sets
// `*io_is_wrong` if something is wrong with it.
tapml_status
report_print_target(struct store *store, const char *name, int *io_is_wrong) STATUS_USED;

// Prints verdicts alone, by op kind, and up to `failures_max` failed cases.
tapml_status report_print_verdicts(const struct verdict_list *list,
                                   size_t failures_max) STATUS_USED;
