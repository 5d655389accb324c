// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The final plan of a target as a file, plan-NAME.txt in the folder of the run, as `generate
// --plan` takes it. One thread.
#pragma once

#include "run/run_judge.h"

struct place_settings;

// Writes it, in place of an earlier one, with what it was judged with before it. Failures are those
// of the file, which they name, and TAPML_NO_MEMORY.
tapml_status plan_file_write(const struct run_judge *judge,
                             const struct place_settings *target,
                             const char *plan) STATUS_USED;
