// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The part of a report about kept cases that were not run on a target, and why: what [select] of
// the run's file has left out (docs/choosing.md).
#pragma once

#include "base/text.h"
#include "report/report_maker.h"
#include "report/report_rows.h"

#include <jansson.h>

// Puts the object "selection" into that of a target: the budget, the policy of a plugin that
// has chosen, the certificate and a sentence, which are empty and null where nothing was chosen.
void report_selection_put(const struct report_rows *rows, struct report_maker *target);

// Prints it from the object of a target, where cases were not run: as a line to the standard
// output, and as markup.
void report_selection_print(const json_t *target);
void report_selection_print_html(const json_t *target, struct text *out);
