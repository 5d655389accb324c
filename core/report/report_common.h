// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the failures of a target have in common if most of what was judged there fails: one cause is
// more likely than many, and a list of all instances says the less the longer it is.
#pragma once

#include "base/text.h"
#include "report/report_rows.h"

// Appends one sentence: how many of the instances that were judged are blamed, of how many kinds of
// operators, in which phases, and how the cases fail if all fail alike. Nothing if half of the
// instances are not blamed, or only a few were judged.
void report_common_print(const struct report_rows *rows, struct text *out);
