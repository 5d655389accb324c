// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a target declares of the arithmetic of an op, and what that costs against f32: metadata of
// the run's store, since it belongs to no single case. A store belongs to one thread.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct store;

struct declaration {
    const char *target, *op;
    uint32_t version;
    const char *form; // "inputs bf16"; not "".
    double cost;      // The largest relative error, as the root of an NMSE, of all outputs.
};

// Notes a cost, in the transaction at hand; what is there stays if it is of the same form and
// larger. Fails as SQLite does.
tapml_status declaration_note(struct store *store, const struct declaration *item) STATUS_USED;

// Finds form and cost of `io_item->op`; the form lives as long as the store is not written. Returns
// 0, and changes nothing, if nothing is known.
int declaration_find(struct store *store, struct declaration *io_item);
