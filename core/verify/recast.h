// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case in the activation dtype (exec/cast) and the encodings of a backend, and as f32 again.
//
// All memory is of the arena given; what is not converted is borrowed from the case. Failures are
// TAPML_NO_MEMORY, or a tolerance class that is not known (TAPML_INVALID).
#pragma once

#include "device/backend.h"
#include "schema/compiled.h"
#include "store/case.h"
#include "tensor/activation.h"
#include "verify/replay_output.h"

struct arena;

// Whether a backend gets a case in another form than it was recorded in.
int recast_is_needed(const struct carved_case *item, const struct backend_info *info);

// The case of an op as a backend gets it. Inputs, states and outputs that are f32 are in its
// reduced dtype, rounded to nearest, ties to even; weights keep their dtype, and so does what the
// schema takes as f32 alone. Weights in the blocks of files are spread for a backend that does not
// take them (tensor/encoding.h), those in tiles are widened. The case was checked (case_check_op,
// case_check_argument). TAPML_INVALID if a block cannot be spread.
tapml_status recast_case(const struct carved_case *item,
                         const struct compiled_op *schema,
                         const struct backend_info *info,
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

// Makes the zeros of an exact op's f32 output positive if a weight of the case is in the blocks of
// a file: what these are spread to has no negative zeros (docs/encodings.md).
tapml_status recast_drop_zero_signs(const struct carved_case *item,
                                    const tapml_op *op,
                                    struct arena *arena,
                                    struct replay_output *output) STATUS_USED;
