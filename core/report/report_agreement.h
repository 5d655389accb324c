// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the targets of a run say together of an operator that is wrong on one of them: how many of
// them agree with the source, and whether those that do not compute the same values as each other.
// Where none agrees, the source may be what is wrong.
//
// Two values are the same if they differ by at most a thousandth of the larger one: values that are
// wrong for one reason, on devices that round in their own ways.
#pragma once

#include "base/text.h"

#include <jansson.h>

// Appends a sentence without an end, "silu: 2 of 3 targets agree with the source: a, c", from the
// targets of a report's document. 0, and nothing, where fewer than two targets have judged the
// operator, or none is wrong.
int report_agreement_print(const json_t *targets, const char *op, struct text *out);
