// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case as files for people without TapML: case.json, which describes it, and an array of NumPy
// for each tensor. docs/bridges.md has the format.
#pragma once

#include "base/status.h"

struct carved_case;
struct checkpoint;
struct compare_limit;

struct case_export {
    const struct carved_case *item;
    const struct checkpoint *checkpoint; // Of weights that the case has by name; or NULL.
    const struct compare_limit *limits;  // One for each output, in the order of the parameters.
    const char *folder;                  // Is made if it is not there.
    int with_pytest;                     // test_case.py, too, which calls a kernel of the reader's.
};

// Writes the files. TAPML_INVALID if a weight is not there; else fails as `file_write` does.
tapml_status case_export_write(const struct case_export *export_) STATUS_USED;
