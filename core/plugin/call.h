// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The call of an op from its schema alone: convention 1 of tapml/op.h.
//
// An op of the host's own catalogue is called by a function that opgen has generated for parameters
// of these kinds; any other one through libffi, whose frame is prepared once for each op of a
// device. Both give the function the same arguments, and allocate nothing. A frame is used by one
// thread.
#pragma once

#include "base/status.h"

#include <tapml/ops.h>

#include <ffi.h>

// Queue and call, then each parameter as its one or two machine arguments.
enum { CALL_PARAMS_MAX = 32, CALL_SLOTS_MAX = 2 + 2 * CALL_PARAMS_MAX };

struct call_frame {
    const tapml_op *op;
    tapml_fn function;
    tapml_ops_call typed; // NULL: through libffi.
    uint32_t lists;       // A bit for each parameter that is a list: it takes two slots.
    ffi_cif cif;
    ffi_type *types[CALL_SLOTS_MAX]; // `cif` points into it: a frame does not move.
};

// Prepares `out_frame` in place, to call through libffi. TAPML_ABI_MISMATCH for another convention,
// an unknown kind of parameter, or more parameters than a frame holds. `impl` is borrowed.
tapml_status call_prepare(const tapml_op_impl *impl, struct call_frame *out_frame) STATUS_USED;

// Lets a prepared frame call by the generated function if `known`, an op whose schema has the same
// fingerprint as that of the frame, is one of `tapml_ops`.
void call_use_typed(struct call_frame *frame, const tapml_op *known);

// Calls the function with `args`, one for each parameter, which have been checked against the
// schema. Returns the status of the function.
tapml_status call_run(struct call_frame *frame,
                      tapml_object *queue,
                      tapml_call *call,
                      const tapml_value *args) STATUS_USED;
