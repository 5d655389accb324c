// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case as files for people without TapML: case.json, which describes it, and an array of NumPy
// for each tensor. docs/bridges.md has the format.
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stdint.h>

struct carved_case;
struct case_argument;
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

// What other forms of a case are made of, too (run/case_program.h, run/case_tensors.h).

// An array on its way out: the contents of an argument before or behind the call.
struct case_export_array {
    const struct case_argument *argument;
    const char *when; // "in" or "out".
    int is_weight;    // It is a weight that the case has by name alone (case_argument.origin).
    uint32_t dtype, rank;
    const int64_t *shape;
    const void *data;
};

enum { CASE_EXPORT_NAME = 256 };

// Takes an array, and gives the name that the description has for it.
typedef tapml_status (*case_export_take_fn)(void *user,
                                            const struct case_export *export_,
                                            const struct case_export_array *array,
                                            char out_name[CASE_EXPORT_NAME]);

// Makes the description of case.json, and gives each array to `take`. The caller releases it.
// TAPML_INVALID if a weight is not there, else fails as `take` does.
tapml_status case_export_describe(const struct case_export *export_,
                                  case_export_take_fn take,
                                  void *user,
                                  json_t **out_document) STATUS_USED;

// An argument with the contents that go in: those of a weight that the case has by name alone are
// the checkpoint's, which owns them. TAPML_INVALID if it is not there.
tapml_status case_export_weight(const struct case_export *export_,
                                const struct case_argument *argument,
                                struct case_argument *out_whole) STATUS_USED;

// A limit as an NMSE, whatever its class measures; an exact one allows nothing at any rate.
double case_export_limit(const struct compare_limit *limit);

// Names of parameters come from a file that others may have written, and become names of files and
// of a program. TAPML_INVALID for all but letters, digits and '_'.
tapml_status case_export_check_name(const char *name) STATUS_USED;
