// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The INI file of a run, checked: every key known, every value of its kind.
#pragma once

#include "config/problems.h"
#include "config/run_config.h"

// Reads and checks a file: its keys are the table of config/keys.h. Adds all that is wrong to
// `problems`, with file, line, section and key, and the nearest known one; what could be read is
// there all the same. Fails only where the file cannot be read at all.
tapml_status run_file_survey(const char *path,
                             struct problems *problems,
                             struct run_config *out_config) STATUS_USED;

// The same, where any problem is a failure.
tapml_status run_file_load(const char *path, struct run_config *out_config) STATUS_USED;
