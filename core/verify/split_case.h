// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A call in two parts, as a rule of its op's schema says that it can be split (schema/split): the
// cases of the parts, and what they compute put together again. Whether that is what the op
// computes whole is for who runs all three to say.
//
// One thread. What is made is in the arena that is given; names are borrowed. TAPML_NO_MEMORY, and
// the failures that a function names.
#pragma once

#include "schema/compiled.h"
#include "verify/replay_output.h"

enum { SPLIT_CASE_PARTS = 2 };

struct split_case {
    const struct carved_case *item;
    const struct compiled_op *schema;
    const struct split_rule *rule;
    int64_t units;                      // That stay together, such as heads; at least 2.
    uint32_t axes[COMPILED_PARAMS_MAX]; // Of each argument, of a list that of its stack;
    int is_cut[COMPILED_PARAMS_MAX];    // where it is cut.
};

// Finds what is cut of a case whose weights are inlined. The case and the op are borrowed.
// `*out_reason`, static, is why it cannot be cut in two, or NULL.
tapml_status split_case_open(const struct carved_case *item,
                             const struct compiled_op *schema,
                             const struct split_rule *rule,
                             struct split_case *out_split,
                             const char **out_reason) STATUS_USED;

// The case of a part, 0 or 1: dense, outputs zeros. The first has the larger half of the units.
// TAPML_INVALID where the schema does not allow the call.
tapml_status split_case_part(const struct split_case *split,
                             uint32_t part,
                             struct arena *arena,
                             struct carved_case *out_case) STATUS_USED;

// Outputs of the parts as one of the whole: one behind the other along the axis that was cut, or,
// by a rule with `sum`, added up; what is expected, and what was computed, each by itself. Names,
// types and the shape are those of `whole`.
tapml_status split_case_join(const struct split_case *split,
                             const struct replay_output *whole,
                             const struct replay_output parts[SPLIT_CASE_PARTS],
                             struct arena *arena,
                             struct replay_output *out_joined) STATUS_USED;
