// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The report of a run as one JSON document, which docs/report.schema.json describes: gathered once,
// from the store and the results of the offload. `--json` writes it as it is; the page and the
// JUnit file only show what is in it. Times come from the store, so that a second start of a
// finished run gives the same bytes.
//
// Numbers that JSON does not have are the strings "NaN", "Infinity" and "-Infinity"; a margin that
// is not there is null. Texts that are no UTF-8 have U+FFFD instead.
#pragma once

#include "report/report.h"
#include "run/bundles.h"
#include "run/setup.h"

#include <jansson.h>

struct report_run {
    const char *dir;
    struct store *store;
    struct setup *setup;
};

// The document of a run whose carving is done, without targets. The caller owns it (json_decref).
tapml_status report_data_create(const struct report_run *run, json_t **out_report) STATUS_USED;

// Adds a target that is done, and the verdict of the whole.
tapml_status report_data_add_target(json_t *report, const struct report_target *target) STATUS_USED;

// Adds a target that could not be opened, or went away in the middle, with the reason.
tapml_status report_data_give_up(json_t *report,
                                 const char *name,
                                 const char *backend,
                                 const char *reason) STATUS_USED;

// Adds a bundle to the accusation of its instance, of the target that was added last.
tapml_status report_data_add_bundle(json_t *report, const struct bundles_note *note) STATUS_USED;
