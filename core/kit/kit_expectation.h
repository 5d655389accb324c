// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The checks that a plugin is known to fail, each with its reason: a file that its author keeps
// beside the sources.
//
//   [plugin]                   ; checks of the files and of the plugin as a whole
//   E-05 = it starts a program and ends it with itself
//   [component.mine]           ; of a component
//   Q-07 = it has one queue
//
// One thread.
#pragma once

#include "base/ini.h"
#include "kit/kit_check.h"

// Reads such a file. TAPML_INVALID names file and line: another section, a check that does not
// exist, no reason. The caller releases the result by ini_release.
tapml_status kit_expectation_read(const char *path, struct ini *out_ini) STATUS_USED;

// Applies what is expected of a check to its result: a failure becomes KIT_EXPECTED, with the
// reason, and a pass a failure, since the file says something else. `component` is NULL or "" of a
// check of the plugin.
void kit_expectation_apply(const struct ini *ini,
                           const struct kit_check *check,
                           const char *component,
                           struct kit_result *io_result);
