// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The arguments of the calls of a plain form, in one call of its op: shapes of temporaries, views,
// numbers.
//
// A frame is made once for a form and evaluated for each call of the op; after it was made, nothing
// is allocated. One thread at a time.
#pragma once

#include "schema/infer.h"
#include "schema/plain_form.h"
#include "tensor/activation.h"

// A value that only the calls of the form know. Dense.
struct plain_temporary {
    tapml_tensor tensor; // The buffer is the caller's, and NULL after an evaluation.
    int64_t shape[TAPML_MAX_RANK];
    uint64_t bytes;
    activation_set mark; // The reduced dtypes that all calls take for it.
};

struct plain_frame_call {
    const struct compiled_op *schema;
    tapml_value *args; // One for each parameter.

    // For each tensor among the arguments, in the order of the parameters, and of a list in its own
    // order: the value of the form in which it lies.
    uint32_t *values;
    uint32_t tensor_count;
    struct plain_view *views; // One for each tensor that the form names.
};

struct plain_frame {
    const struct plain_form *form;
    struct plain_frame_call *calls; // form->call_count
    struct plain_temporary *temporaries;
    uint32_t temporary_count; // form->value_count less the parameters of the op.
};

// Makes a frame, in `arena`; `form` outlives it. TAPML_NO_MEMORY.
tapml_status plain_frame_create(const struct plain_form *form,
                                struct arena *arena,
                                struct plain_frame **out_frame) STATUS_USED;

// Evaluates all calls. `args` are those of the op and live as long as what is read of the frame;
// `inferred` was made of them. Temporaries that need not be of the dtype of an input are of
// `activation` where all calls take that, instead of f32. They have no buffers then. TAPML_INVALID
// names call and parameter: a shape that does not fit, a view of what is not dense or that leaves
// it.
tapml_status plain_frame_evaluate(struct plain_frame *frame,
                                  const tapml_value *args,
                                  const struct inferred *inferred,
                                  enum activation activation) STATUS_USED;

// Puts a temporary, and all views of it, into a buffer, from its first byte on.
void plain_frame_set_buffer(struct plain_frame *frame, uint32_t temporary, tapml_object *buffer);
