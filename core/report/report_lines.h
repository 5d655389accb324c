// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What is known of each op kind on a target: counts, margins and times, for every form of report.
#pragma once

#include "base/table.h"
#include "graph/graph.h"
#include "offload/loop.h"
#include "report/report_rows.h"

struct report_line {
    const char *op_name;
    const char *class_; // As of an instance; "" where none is known.
    uint64_t instances, moved;
    uint64_t cases, passed, failed, unsupported, skipped, stale;
    uint64_t derived_failed;
    double margin;
    uint64_t source_ns, source_calls; // Of the carving run.
    uint64_t target_ns;               // Of the replays.
};

struct report_lines {
    struct report_line *items;
    size_t count, capacity;
    struct table index_of;    // Op name to line.
    struct table instance_of; // Instance to line.
};

void report_lines_init(struct report_lines *lines);
void report_lines_release(struct report_lines *lines);

// Lines of the ops of the graph, in its order: what moved, and what the carving run took.
tapml_status report_lines_add_run(struct report_lines *lines,
                                  const struct report_rows *rows) STATUS_USED;

// Counts verdicts into the lines of their ops.
tapml_status report_lines_add_verdicts(struct report_lines *lines,
                                       const struct verdict_list *verdicts) STATUS_USED;

// The derived cases of one op and source.
struct report_derived {
    const char *op_name;
    const char *source;
    uint64_t cases, failed, not_judged;
    double margin; // The largest.
    const struct verdict *first_failed;
    const struct verdict *first_not_judged; // Skipped or unsupported.
};

// Those of the op and source of the derived verdict `index`. 0 if an earlier verdict has the same
// op and source: then they were printed.
int report_lines_derived(const struct verdict_list *list,
                         size_t index,
                         struct report_derived *out_derived);
