// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case in the activation dtype of a backend (exec/cast), and as f32 again.
//
// All memory is of the arena given; what is not converted is borrowed from the case. Failures are
// TAPML_NO_MEMORY, or a tolerance class that is not known (TAPML_INVALID).
#pragma once

#include "schema/compiled.h"
#include "store/case.h"
#include "tensor/activation.h"
#include "verify/replay_output.h"

struct arena;

// The case of an op with inputs, states and outputs that are f32 in the reduced dtype `activation`,
// rounded to nearest, ties to even; weights stay as they are, and so does what the schema takes as
// f32 alone. The case was checked (case_check_op, case_check_argument).
tapml_status recast_case(const struct carved_case *item,
                         const struct compiled_op *schema,
                         enum activation activation,
                         struct arena *arena,
                         struct carved_case *out_case) STATUS_USED;

// The other way: all that is of the reduced dtype and no weight as f32, which is exact.
tapml_status recast_widen_case(const struct carved_case *item,
                               enum activation activation,
                               struct arena *arena,
                               struct carved_case *out_case) STATUS_USED;

// Makes an output of a recast case one of the case it was made of: what was computed is widened.
// What is expected stays, unless the op is exact: then it is rounded, since the two may differ by
// that rounding only.
tapml_status recast_widen_output(const tapml_op *op,
                                 enum activation activation,
                                 struct arena *arena,
                                 struct replay_output *output) STATUS_USED;

// Rounds what is expected of an exact op's f32 output, if the dtype is a reduced one.
tapml_status recast_round_expected(const tapml_op *op,
                                   enum activation activation,
                                   struct arena *arena,
                                   struct replay_output *output) STATUS_USED;
