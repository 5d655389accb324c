// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What ops are in operators of ONNX: a recipe for each, of statements that are separated by ';':
//
//     ?weight: w = Add(weight, $offset); n = ReduceMean(q, [-1]) {keepdims=0}
//
// An argument is a parameter or an earlier result; `$offset`, the value of a number as a scalar of
// f32; `[x.-1 2*cos.1 3]`, whole numbers as a tensor: literals, numbers of the op, extents of its
// tensors, rows of a state that the call touches (`state.begin`, `state.end`, counted from the
// first that is kept), quotients of two of them; or `mask`, which attention adds to its scores. A
// statement behind `?name:` counts where the parameter is there and not 0, one behind `!name:`
// where it is not. Attributes are whole numbers, lists of them, or a word.
#pragma once

struct onnx_recipe {
    const char *op;
    const char *refused; // Parameters that must be absent or 0, with blanks between; or "".
    const char *text;
};

// The recipe of an op by its name, or NULL.
const struct onnx_recipe *onnx_recipe_find(const char *op);
