// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The part of a report about what a run waits for most (choose/bottleneck.h), from the rows of its
// stages alone: where the time went, what holds it, what the run would take without that, and what
// can be set. Failures are those of the store and TAPML_NO_MEMORY.
#pragma once

#include "base/text.h"
#include "report/report_maker.h"

#include <jansson.h>

struct store;

// Puts the object "bottleneck" into a report. It is left out where the store has no such rows, of
// an earlier version.
tapml_status report_bottleneck_put(struct store *store, struct report_maker *report) STATUS_USED;

// Appends it from a report: as a section of the page, nothing where there is none; as text, with
// the times of all stages, or one sentence that there are none.
void report_bottleneck_print_html(const json_t *report, struct text *out);
void report_bottleneck_print(const json_t *report, struct text *out);
