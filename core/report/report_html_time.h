// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A drawing of where the time of a run went: the stages of a target in their order, each with its
// place and its share. It is SVG in the page, without a script.
//
// The times are those that the store has: calls of the source while it was carved, calls of kept
// cases on the target, the steps of the offload and what of the measured prompt ran on the target.
// What a run does beside (loading, calibrating, comparing) is on its timeline alone (--timeline).
#pragma once

#include "base/text.h"

#include <jansson.h>

// Appends the drawing for a target of a report; nothing where no stage has a time.
void report_html_time_print(const json_t *report, const json_t *target, struct text *out);
