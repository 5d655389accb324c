// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Times as people write and read them: "90s", "20min", "1.5h", "2d".
//
// Any thread.
#pragma once

#include "base/status.h"

enum { DURATION_TEXT = 32 };

// Reads a time above 0 and up to a year, with its unit: ms, s, min, h or d. TAPML_INVALID: it is
// none.
tapml_status duration_read(const char *word, double *out_seconds) STATUS_USED;

// Writes a time in the unit that suits it, with three digits: "12.3 ms", "1.31 s", "20 min",
// "2.5 h", "3 d". "?" of NaN.
void duration_print(double seconds, char out_text[DURATION_TEXT]);
