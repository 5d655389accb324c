// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The report of a run as one JSON document, which docs/report.schema.json describes: gathered from
// the rows of its store and from nothing else, so that neither the model nor a plugin is needed and
// the same rows give the same bytes. `--json` writes it as it is; the page and the JUnit file only
// show what is in it.
//
// Numbers that JSON does not have are the strings "NaN", "Infinity" and "-Infinity"; a margin that
// is not there is null. Texts that are no UTF-8 have U+FFFD instead.
#pragma once

#include "base/status.h"

#include <jansson.h>

struct store;

// The document of a run. A target whose offload has not ended is given up, with the reason. The
// caller owns it (json_decref).
tapml_status report_data_create(struct store *store, json_t **out_report) STATUS_USED;

// The same of the run in the folder `dir`, whose store is read as it is at one moment: a host may
// work on it. TAPML_NOT_FOUND if there is none.
tapml_status report_data_read(const char *dir, json_t **out_report) STATUS_USED;
