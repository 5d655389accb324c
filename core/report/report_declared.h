// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The part of a report about ops whose arithmetic a target declares: whether they are right as
// declared, and what the declaration costs against f32. Absent where nothing is declared.
#pragma once

#include "base/text.h"
#include "report/report_lines.h"
#include "report/report_list.h"

#include <jansson.h>

// The columns of its list, which docs/report.schema.json describes.
extern const struct report_list report_declared_list;

// Puts the list "declared" into the object of a target.
void report_declared_put(const struct report_rows *rows,
                         const struct report_lines *lines,
                         struct report_maker *target);

// Prints it from the object of a target: as text to the standard output, what is wrong in red if
// colours are wanted, and as markup.
void report_declared_print(const json_t *target, int is_coloured);
void report_declared_print_html(const json_t *target, struct text *out);
