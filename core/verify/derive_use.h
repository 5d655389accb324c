// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which values of derived cases (verify/derive) say something about an op. Any thread.
#pragma once

#include "schema/compiled.h"
#include "store/case.h"
#include "verify/derive_values.h"

// Whether values of a kind can show of the op of a case what other kinds do not.
int derive_use_has(const struct carved_case *item,
                   const struct compiled_op *schema,
                   enum derive_values values);

// Whether an argument is a state whose rows are rounded as they are written.
int derive_use_is_rounded_state(const struct case_argument *argument);
