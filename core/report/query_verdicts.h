// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The view `verdicts` of a query: what became of each kept case on each target, by the same
// function as in a report (`verdict_read`), so that both say the same.
#pragma once

#include "store/query.h"

extern const struct query_view query_verdicts_view;

// The verdicts of all targets of a store. They belong to one thread at a time.
struct query_verdicts;

// Reads them; nothing of the store is needed behind that. The caller destroys them.
tapml_status query_verdicts_read(struct store *store,
                                 struct query_verdicts **out_verdicts) STATUS_USED;
void query_verdicts_destroy(struct query_verdicts *verdicts); // NULL is allowed.

// Adds them to the view with this number. `run` is the folder, as it was given.
tapml_status query_verdicts_add(const struct query_verdicts *verdicts,
                                struct query *query,
                                size_t view,
                                const char *run) STATUS_USED;
