// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What several runs say together, as a JUnit file: a suite for each target, with two test cases for
// each of its ops. `cases` fails if failures are new or expired, or if cases that passed are not
// judged any more; it is skipped if all of its failures are known or were there before. `time`
// fails if the op is slower beyond the noise and the file is to say so.
#pragma once

#include "base/text.h"

#include <jansson.h>

// Appends the member `changes` of a comparison (report/changes.h); `_timed`: times fail, too.
void changes_junit_print(const json_t *comparison, struct text *out);
void changes_junit_print_timed(const json_t *comparison, struct text *out);
