// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How a function or kernel that was not written for TapML takes the arguments of an op.
//
// Its author writes one line, words separated by blanks, in the order of the function's arguments:
//
//     x weight y x.rows:i32 x.width:i32 eps:f32
//
// A word is a term and a type. Terms:
//
//     NAME          of a tensor: the address of its first element, a null pointer where an optional
//                   tensor is absent; of a number: its value
//     NAME.count    the elements of a tensor
//     NAME.rows     the product of all extents but the last,
//     NAME.width    and the last; 1 where there is none
//     NAME.N        extent N, counted from 0; 1 behind the last
//     NAME.strideN  the stride of axis N in elements; 0 behind the last
//     123           a whole number
//     *             the address of all arguments, an array of tapml_value (tapml/op.h) with one for
//                   each parameter of the op: for whoever takes any op, or lists of tensors
//     *op           the address of the op, a tapml_op
//
// Types: `f32`, `f16`, `bf16`, `i32`, `u8` of a tensor's elements, f32 where none is given; `i32`,
// `i64`, `f32`, `f64` of a number, i64 for whole numbers and f64 for others where none is given.
//
// A tensor must be dense, or all its strides must be among the arguments. With `*` any call is
// taken.
#ifndef TAPML_SIGNATURE_H
#define TAPML_SIGNATURE_H

#include <tapml/op.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SIGNATURE_ARGUMENTS_MAX = 64 };

enum signature_property {
    SIGNATURE_TENSOR, // An address. All others but the last two are numbers.
    SIGNATURE_VALUE,  // Of a number of the op.
    SIGNATURE_LITERAL,
    SIGNATURE_COUNT,
    SIGNATURE_ROWS,
    SIGNATURE_WIDTH,
    SIGNATURE_EXTENT,
    SIGNATURE_STRIDE,
    SIGNATURE_VALUES, // The address of all arguments,
    SIGNATURE_OP      // and of the op.
};

struct signature_argument {
    enum signature_property property;
    uint32_t type;  // TAPML_DT: of the elements of a tensor, or of the number as it is passed.
    uint32_t param; // Of the op; not of a literal.
    uint32_t axis;
    int64_t literal;
};

struct signature {
    const tapml_op *op; // Borrowed.
    uint32_t count;
    struct signature_argument arguments[SIGNATURE_ARGUMENTS_MAX];
};

// Reads a line for the arguments of `op`. Returns 1, or 0 with a sentence of at most `size` bytes
// in `problem`, which names the word and what is known.
int signature_parse(const char *text,
                    const tapml_op *op,
                    struct signature *out_signature,
                    char *problem,
                    size_t size);

// Reads one word that is a number: the only argument of `*out_signature`.
int signature_parse_number(const char *word,
                           const tapml_op *op,
                           struct signature *out_signature,
                           char *problem,
                           size_t size);

// Whether the function takes a call with these arguments, one for each parameter, tensors with or
// without buffers: types, layouts, absent tensors. Returns 1, or 0 with a sentence in `reason`.
int signature_takes(const struct signature *signature,
                    const tapml_value *args,
                    char *reason,
                    size_t size);

// Whether a call is passed whole: `*` is among the arguments.
int signature_has_values(const struct signature *signature);

// The tensor of an argument; NULL where it is absent.
const tapml_tensor *signature_tensor(const struct signature_argument *argument,
                                     const tapml_value *args);

// The number of any other argument, before it is converted to `type`: whole ones, and those of F64.
int64_t signature_whole(const struct signature_argument *argument, const tapml_value *args);
double signature_number(const struct signature_argument *argument, const tapml_value *args);

// The name of a type as the line has it: "f32". Static.
const char *signature_type_name(uint32_t type);

#ifdef __cplusplus
}
#endif

#endif
