// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What two runs differ in, as text for the terminal.
#pragma once

#include "base/text.h"

#include <jansson.h>

// Prints a comparison (report/comparison.h) to the standard output: what was compared with what,
// each kind of difference with its first lines, and one sentence.
tapml_status comparison_text_print(const json_t *comparison) STATUS_USED;

// For all views: "3 verdicts and 1 margin differ"; the title of a kind, "verdicts"; where a
// difference is, "gpu: layers.0/mlp/silu, decode, x=[1,64]"; and a side of it as people read it,
// "first" or "second".
void comparison_text_sentence(const json_t *comparison, struct text *out);
const char *comparison_text_title(const char *kind);
void comparison_text_place(const json_t *difference, struct text *out);
void comparison_text_value(const json_t *difference, const char *side, struct text *out);
