// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What an op's schema makes of its arguments: dtypes and shapes of outputs in a graph, symbols and
// regions of a call. Refuses what does not fit.
//
// Nothing here allocates or keeps state: any thread may call it, with results of its own.
#pragma once

#include "schema/compiled.h"

// What is known of one argument. For an output the dtype and shape are filled in.
struct infer_argument {
    int is_present;
    const char *name; // Of its value, for messages; or NULL.
    uint32_t dtype;
    uint32_t rank;
    struct affine shape[TAPML_MAX_RANK]; // In elements.
    struct affine i;                     // I64
};

// Fills in the outputs among `arguments`, which has one entry for each parameter. A `TENSORS_IN`
// parameter is described by its first tensor. TAPML_INVALID names op, parameter, what was expected
// and what was found.
tapml_status infer_op(const struct compiled_op *schema,
                      struct infer_argument *arguments) STATUS_USED;

// The rows of a state that have a region, from `*out_begin` to before `*out_end`, of such
// arguments. TAPML_INVALID as `infer_op`, and where they are not affine.
tapml_status infer_region(const struct compiled_op *schema,
                          struct infer_argument *arguments,
                          uint32_t param,
                          struct affine *out_begin,
                          struct affine *out_end) STATUS_USED;

// What the schema makes of the arguments of one call.
struct inferred {
    const struct compiled_op *schema; // Borrowed.
    struct expression_scope scope;    // Of plain numbers.
    struct infer_region {
        int64_t begin, end;         // The rows [begin, end) that the call touches.
    } regions[COMPILED_PARAMS_MAX]; // Of states that are there; else undefined.
};

// Matches the arguments of a call, one for each parameter, with the schema: kinds, dtypes, shapes,
// strides, and that optional ones only are absent. Buffers and contents are not looked at. This is
// the one check of every call before it reaches a plugin. TAPML_INVALID as above; then
// `out_inferred` is undefined.
tapml_status infer_call(const struct compiled_op *schema,
                        const tapml_value *args,
                        struct inferred *out_inferred) STATUS_USED;

// Whether the numbers among the arguments that `inferred` was made of lie in their domains; a bit
// of `params` for each parameter that is looked at. TAPML_INVALID names the parameter, what was
// expected and what was found.
tapml_status infer_domains(const struct inferred *inferred,
                           const tapml_value *args,
                           uint32_t params) STATUS_USED;
