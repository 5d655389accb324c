// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a report says of invariance (store/invariant.h): a list of operators and axes in the object
// of a target, a line of counts and one for each that changes in the text, and a table on the page.
// Nothing where nothing was asked.
#pragma once

#include "base/text.h"
#include "report/report_list.h"
#include "report/report_rows.h"

#include <jansson.h>

// The columns of its list, which docs/report.schema.json describes.
extern const struct report_list report_invariance_list;

// Puts the list "invariance" into the object of a target.
void report_invariance_put(const struct report_rows *rows, struct report_maker *target);

// How many rows of a target are wrong.
size_t report_invariance_count_wrong(const json_t *target);

// Appends the sentence of the first that is wrong: "linear of gpu is wrong with other rows beside
// ...". Nothing where none is.
void report_invariance_print_first(const json_t *target, struct text *out);

// Prints it from the object of a target: as text to the standard output, and as markup.
tapml_status report_invariance_print(const json_t *target) STATUS_USED;
void report_invariance_print_html(const json_t *target, struct text *out);
