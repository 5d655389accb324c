// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The codes by which a plugin names sums of symbols: extents, and arguments that follow the tokens.
//
// A number from 0 on is itself, -1 and below are the symbols of schema/affine.h, and codes below
// those are entries of this table.
#pragma once

#include "schema/affine.h"

#include <stddef.h>

// Zeroed: empty. Freed by `sums_release`.
struct sum_table {
    struct affine *items; // Code -(AFFINE_SYMBOLS + 1 + k) stands for items[k].
    size_t count, capacity;
};

// What a code stands for. TAPML_INVALID if it stands for nothing.
tapml_status
sum_table_value(const struct sum_table *sums, int64_t code, struct affine *out_value) STATUS_USED;

// The code of a sum, which is added unless it has one.
tapml_status
sum_table_code(struct sum_table *sums, const struct affine *value, int64_t *out_code) STATUS_USED;

void sum_table_release(struct sum_table *sums);
