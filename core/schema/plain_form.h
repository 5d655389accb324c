// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The plain form of an op: the same in calls of other ops, the text `expands` of its schema.
//
//   form      = call { ";" call }
//   call      = [ label ":" ] op [ "@" version ] "(" argument { "," argument } ")"
//   argument  = parameter "=" value
//   value     = tensor | "[" tensor { "," tensor } "]" | sum | number | f64 or list parameter
//   tensor    = name [ "{" shape [ ":" strides [ ":" offset ] ] "}" ]
//
//   sum: tapml.add(a = x, b = residual, y = h); norm: tapml.rms_norm(x = h, weight = w, eps = eps,
//   y = y)
//
// A name is a parameter of the op or a temporary, which exists from the call on that has it as an
// output. Braces look at dense memory in another way: shape, strides and offset are sums over the
// symbols of the op's schema (schema/expression.h), and count elements; without strides the view is
// dense. A parameter that is left out is absent. The version is 1 unless it is given; a label, of
// letters, digits and "_./-", names the call for people.
//
// Calls are in order, each output of the op is written by one of them, and what is a weight or a
// state for a call is one for the op. A form is constant: any thread may read it.
#pragma once

#include "schema/catalogue.h"

enum { PLAIN_CALLS_MAX = 128, PLAIN_VALUES_MAX = 256, PLAIN_LABEL_BYTES = 64 };

enum plain_kind { PLAIN_ABSENT, PLAIN_TENSOR, PLAIN_TENSORS, PLAIN_I64, PLAIN_F64 };

struct plain_tensor {
    uint32_t value;                  // Of the form.
    const struct expression *shape;  // Of the view; NULL: the value as it is.
    const struct expression *stride; // NULL: dense.
    const struct expression *offset; // NULL: 0.
};

struct plain_argument {
    enum plain_kind kind;
    uint32_t count; // Of tensors.
    const struct plain_tensor *tensors;
    const struct expression *sum; // Of an i64.
    double number;                // Of an f64.
    uint32_t param; // The f64 or the list of tensors is this parameter of the op, or COMPILED_NONE.
};

struct plain_call {
    const char *label; // "" without one.
    const char *text;  // Within `expands`, not ended by NUL,
    uint32_t length;   // of this many bytes: the call with its label.
    const struct compiled_op *schema;
    const struct plain_argument *arguments; // One for each parameter of `schema`.
};

// A parameter of the op, at its index, or a temporary behind those.
struct plain_value {
    const char *name;
    uint32_t writer; // The call that writes it: an output or a temporary; else COMPILED_NONE.
};

struct plain_form {
    const struct compiled_op *schema; // Of the op.
    struct expression_names names;    // Its symbols.
    const struct plain_value *values;
    uint32_t value_count;
    const struct plain_call *calls;
    uint32_t call_count;
};

// Whether somebody has an op, or all the ops that its plain form consists of, which may have forms
// in their turn. `has` says what there is. 0 for an op that the catalogue lacks.
typedef int (*plain_form_has)(void *user, const tapml_op *op);
int plain_form_is_there(const struct catalogue *catalogue,
                        const tapml_op *op,
                        plain_form_has has,
                        void *user);

// Reads the plain form of an op that has one. `schema` and the ops of the catalogue outlive it; it
// lives in `arena`. TAPML_NOT_FOUND names an op that the catalogue lacks; TAPML_INVALID names call
// and argument, what was expected and what was found; TAPML_NO_MEMORY.
tapml_status plain_form_create(const struct compiled_op *schema,
                               const struct catalogue *catalogue,
                               struct arena *arena,
                               const struct plain_form **out_form) STATUS_USED;
