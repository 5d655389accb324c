// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The verdicts of many runs beside each other: for each model a table of operators by targets, or
// by devices. `compare --matrix` and `publish` show it.
//
// A cell is what the last run, in the order given, says of an operator in a column; earlier runs of
// the same model and column are listed with it. Nothing is made better on the way: a state is that
// of the report, its worst instance's.
//
// One thread; what is given is borrowed. Failures are TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stddef.h>

enum matrix_by { MATRIX_BY_TARGET, MATRIX_BY_DEVICE };

struct matrix_run {
    const char *name;     // As it is shown.
    const char *link;     // A reference to its report from where the matrix is; or NULL.
    const json_t *report; // Its document (report/report_data.h).
};

struct matrix_options {
    const struct matrix_run *runs; // In the order of time.
    size_t count;
    enum matrix_by by;
};

// The words of an option, "target device", in the order of `enum matrix_by`.
extern const char matrix_by_words[];

// The matrix as a document, which docs/publishing.md describes: models in the order in which runs
// have them first, and so columns and operators. The caller owns it (json_decref).
tapml_status matrix_create(const struct matrix_options *options, json_t **out_matrix) STATUS_USED;
