// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Cells of the page's grids: each has a colour, and a letter or a sign too.
#pragma once

#include "base/text.h"

// Appends a <td> for a state of instances (docs/report.schema.json) and their worst margin, which
// is NaN if there is none; an empty one if `state` is NULL.
void report_html_cell_print(const char *state, double margin, struct text *out);

// The same as a link to `link`; NULL: it is none.
void report_html_cell_print_link(const char *state,
                                 double margin,
                                 const char *link,
                                 struct text *out);

// Appends what the signs mean.
void report_html_cell_print_key(struct text *out);
