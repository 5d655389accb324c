// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The critical values of an op: where its formula branches or saturates, so that a kernel that is
// right between two of them may be wrong beyond one.
//
// A list is constant and lives in the arena that is given. Any thread.
#pragma once

#include "base/status.h"

#include <tapml/op.h>

struct arena;

enum { CRITICAL_VALUES_MAX = 16 };

#define CRITICAL_NUMBER UINT32_MAX // No parameter: the factor is the value.

struct critical_value {
    double factor;
    uint32_t param; // The f64 parameter that it is a multiple of, or CRITICAL_NUMBER.
};

// Reads "-9 * limit | 0 | limit", the key `critical` of an op. None where it has no such key.
// TAPML_INVALID names the item that is neither a finite number nor a multiple of an f64 parameter;
// TAPML_NO_MEMORY.
tapml_status critical_read(const tapml_op *op,
                           struct arena *arena,
                           const struct critical_value **out_values,
                           uint32_t *out_count) STATUS_USED;
