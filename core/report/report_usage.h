// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The part of a report about what the run has cost: of each place how long all starts together have
// held it, how long it had work, what opening it took, and at the rates of the run's file how much
// money that is. A place without a rate costs time alone; currencies are not added.
//
// One thread. Failures are those of the store, and TAPML_NO_MEMORY.
#pragma once

#include "base/text.h"
#include "report/report_maker.h"

#include <jansson.h>

struct arena;
struct store;

// Puts the object "cost" into a report; nothing where the store has no row of it, as one of an
// earlier version.
tapml_status
report_usage_put(struct store *store, struct arena *arena, struct report_maker *report) STATUS_USED;

// Appends it from a report's document, as lines "cost: ..." and as a section of the page; nothing
// if it has none.
void report_usage_print(const json_t *report, struct text *out);
void report_usage_print_html(const json_t *report, struct text *out);
