// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Types and shapes of an op's outputs, from its schema and its inputs; refuses what does not fit.
#pragma once

#include "graph/expression.h"

#include <tapml/op.h>

// What is known of one argument. For an output the dtype and shape are filled in.
struct infer_argument {
    int is_present;
    const char *name; // Of its value, for messages; or NULL.
    uint32_t dtype;
    uint32_t rank;
    struct affine shape[TAPML_MAX_RANK];
    struct affine i; // I64
};

// One entry for each parameter. `TENSORS_IN` parameters are described by their first tensor. The
// message names op, parameter, what was expected and what was found. `scope` is left with the
// values of all symbols.
tapml_status infer_op(const tapml_op *op,
                      struct infer_argument *arguments,
                      struct expression_scope *scope) STATUS_USED;

// The scope of a concrete call, whose tensors are all known: checks dtypes, shapes, layouts and
// that optional ones only are absent. The one check of every call before it reaches a plugin.
tapml_status
infer_call(const tapml_op *op, const tapml_value *args, struct expression_scope *scope) STATUS_USED;

// Whether a type, or "encoded", is one of the words of a tensor parameter's dtypes.
int infer_takes(const tapml_param *param, const char *type);

// The rows [begin, end) of the state parameter `param` that a call touches: its `region`, or all.
tapml_status infer_region(const tapml_op *op,
                          uint32_t param,
                          const tapml_value *args,
                          const struct expression_scope *scope,
                          int64_t *out_begin,
                          int64_t *out_end) STATUS_USED;
