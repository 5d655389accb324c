// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What two runs differ in, as one JSON document, which docs/comparison.schema.json describes: made
// from the reports of both (report/report_data.h) and from nothing else. Text and page only show
// what is in it.
//
// Everything that a report holds is compared. Items of a list are paired by what they are: targets
// by name, cases by instance, phase, shapes and content key, steps by name. Row ids mean nothing.
// Numbers are the same if they have the same nine digits, as `--json` writes them.
#pragma once

#include "base/status.h"

#include <jansson.h>

struct report_maker;

// One of the two runs.
struct comparison_side {
    const char *dir;      // As the user named it.
    const json_t *report; // Borrowed.
};

// The document. The caller owns it (json_decref).
tapml_status comparison_create(const struct comparison_side *first,
                               const struct comparison_side *second,
                               json_t **out_comparison) STATUS_USED;

// Whether the runs are alike: they differ in names, costs, times and the steps of the offload
// at most. The order of the steps follows measured times.
int comparison_is_alike(const json_t *comparison);

// Puts what names a run into a part of a document: its folder, name, verdict, model, source, host.
void comparison_put_side(struct report_maker *out_part, const struct comparison_side *side);
