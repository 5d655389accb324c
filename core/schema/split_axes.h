// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which axes of the arguments of a call a rule cuts (schema/split). Any thread.
#pragma once

#include "schema/infer.h"

// Axes of a tensor.
struct split_axes {
    uint32_t first, count; // Several where the symbol stands for leading axes; 0: none.
    uint32_t symbol;       // Its number in the rule: 0 is the first.
};

// The axes of the tensor in `param`, which is there, that a rule cuts. `arguments` has one entry
// for each parameter, of which the numbers and the rank of the tensor are read.
struct split_axes split_axes_find(const struct compiled_op *schema,
                                  const struct split_rule *rule,
                                  const struct infer_argument *arguments,
                                  uint32_t param);
