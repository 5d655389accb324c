// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The view `verdicts` of a query: what became of each kept case on each target, by the same
// function as in a report (`verdict_read`), so that both say the same.
#pragma once

#include "store/query.h"

extern const struct query_view query_verdicts_view;

// Adds the verdicts of all targets of a store to rows of this view; the store is needed no more
// behind that. `run` is the folder, as it was given.
tapml_status
query_verdicts_read(struct store *store, const char *run, struct query_rows *rows) STATUS_USED;
