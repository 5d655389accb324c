// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the values of derived cases (verify/derive) lie around: the range that a kept case has, and
// the critical values of its op. Any thread.
#pragma once

#include "schema/compiled.h"
#include "store/case.h"

// The largest finite magnitude of what goes in at an argument; 1 where there is none, or it is
// encoded.
double derive_bounds_range(const struct case_argument *argument);

// The critical values of an op with the attributes of a case, without those that f32 does not
// reach. `out_values` has room for CRITICAL_VALUES_MAX. Returns how many there are.
uint32_t derive_bounds_criticals(const struct carved_case *item,
                                 const struct compiled_op *schema,
                                 double *out_values);
