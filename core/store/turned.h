// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `turned`: verdicts that a look of `tapml-host watch` found to be others than before, with
// the first difference.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

struct turned_row {
    int64_t look; // Which found it (store/look.h).
    const char *target, *key, *op, *instance, *phase;
    const char *before, *after; // Verdicts, as a report names them; `before` is "" of a new case.
    int is_worse;
    double margin_before, margin; // NaN: nothing was compared.

    // The first element that is beyond its limit; "" and NaN where there is none.
    const char *param, *place;
    double expected, computed;
    const char *reason; // A sentence, or "".
};

// Adds a row, in the transaction at hand, whose look is written.
tapml_status turned_write(struct store *store, const struct turned_row *row) STATUS_USED;

// Those of a look, in the order in which they were found: the worse ones first, at most
// TURNED_SHOWN.
enum { TURNED_SHOWN = 100 };
tapml_status turned_list(struct store *store,
                         int64_t look,
                         struct arena *arena,
                         struct turned_row **out_items,
                         size_t *out_count) STATUS_USED;
