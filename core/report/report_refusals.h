// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a target refuses, in lines of the terminal: one for each op and reason, since a model calls
// an op in each of its layers. The report's document has every instance.
#pragma once

#include "base/text.h"

#include <jansson.h>

// Appends "unsupported: INSTANCE (OP) and 37 more: REASON" for the first instance of each, in the
// order of the document; nothing where the target refuses nothing.
void report_refusals_print(const json_t *target, struct text *out);

// Whether one of these lines says that an op is refused for `reason`.
int report_refusals_has(const json_t *target, const char *op, const char *reason);
