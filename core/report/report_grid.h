// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The plan of a target as a grid in a report's document: layers by operators.
#pragma once

#include "report/report_lines.h"
#include "report/report_maker.h"

// An instance, in the order of the graph.
struct report_grid_item {
    const char *instance;
    const char *op;    // Which has a line.
    const char *state; // One that `report_grid_rank` knows.
    double margin;     // The worst of its cases; NaN where nothing was compared.
};

// The columns are those of `lines`. The caller takes over the object.
struct report_maker report_grid_make(const struct report_grid_item *items,
                                     size_t count,
                                     const struct report_lines *lines);

// How much an instance's state, as it stands in the document, asks to be looked at: 0 is "wrong".
size_t report_grid_rank(const char *state);

// Of a target of a report's document: the most telling state of an op's instances, which belongs to
// the document, and their worst margin, NaN if there is none. NULL: it has no such op.
const char *report_grid_worst(const json_t *target, const char *op, double *out_margin);
