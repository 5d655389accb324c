// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What comparers of plugins found on a target (verify/comparers.h): of each comparer and operator
// the worst value, and how many outputs are beyond the comparer's own limit.
//
// One thread. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "base/text.h"
#include "report/report_maker.h"
#include "verify/verdict.h"

#include <jansson.h>

struct report_measure {
    const char *comparer, *unit, *op; // Borrowed from the verdicts,
    const char *instance, *param;     // and so are those of the worst output.
    uint64_t outputs;
    uint64_t beyond; // Those with a value above a limit that is not 0.
    double worst;    // The largest value; NaN if the comparer could tell none.
    double limit;    // Of that output; 0: none.
};

struct report_measures {
    struct report_measure *items; // In the order in which they were first found.
    size_t count, capacity;
};

// Gathers the measures of kept cases. The caller releases them.
tapml_status report_measures_make(const struct verdict_list *list,
                                  struct report_measures *out_measures) STATUS_USED;
void report_measures_release(struct report_measures *measures);

// Appends a table of them; nothing if there are none.
void report_measures_print(const struct report_measures *measures, struct text *out);

// Puts those of a target into the report's document, as the array "measures".
void report_measures_put(const struct verdict_list *list, struct report_maker *io_target);

// The table of the report's page, from the array "measures" of a target; nothing if it is empty.
void report_measures_print_html(const json_t *target, struct text *out);

// The same for a terminal, a line for each comparer, with the largest of its measures.
void report_measures_print_lines(const json_t *target, struct text *out);
