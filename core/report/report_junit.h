// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The report as JUnit XML, as continuous integrations read it.
#pragma once

#include "base/text.h"

#include <jansson.h>

// One suite for each target. A test case is an instance in a phase: the class "gpu.linear", the
// name "layers.3/attn/q_proj decode"; it fails with the sentence of its worst case, and is skipped
// where none of its cases could be compared. Behind them stand the derived cases of each op, what
// fails only together with others, and the model end to end.
void report_junit_print(const json_t *report, struct text *out);
