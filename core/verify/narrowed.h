// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case as a narrow backend (exec/narrow) gets it, and as f32 again.
#pragma once

#include "store/case.h"
#include "verify/replay.h"

struct arena;

// The case of `op` with inputs, states and outputs that are f32 as f16, rounded to nearest, ties to
// even; weights stay as they are, and so does what the schema takes as f32 alone. In `arena`; the
// rest is borrowed. The case was checked (case_check_op, case_check_argument).
tapml_status narrowed_case(const struct carved_case *item,
                           const struct compiled_op *schema,
                           struct arena *arena,
                           struct carved_case *out_case) STATUS_USED;

// The other way: all that is f16 and no weight as f32, which is exact.
tapml_status narrowed_widen_case(const struct carved_case *item,
                                 struct arena *arena,
                                 struct carved_case *out_case) STATUS_USED;

// Makes an output of a narrowed case one of the case it was made of: what was computed, in f16, is
// widened. What is expected stays, unless the op is exact: then it is rounded, since nothing but
// that rounding may tell the two apart. In `arena`.
tapml_status narrowed_widen_output(const tapml_op *op,
                                   struct arena *arena,
                                   struct replay_output *output) STATUS_USED;

// Rounds what is expected of an exact op's f32 output to f16, in `arena`; else nothing.
tapml_status narrowed_round_expected(const tapml_op *op,
                                     struct arena *arena,
                                     struct replay_output *output) STATUS_USED;
