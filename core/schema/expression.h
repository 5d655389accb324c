// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The texts of op schemas: shapes, regions, costs, domains.
//
//   text   = shape | sum ".." sum
//   shape  = [ name "?" shape ":" shape ] | item { "," item }
//   item   = "*" name | sum                      "*rows": any number of leading axes
//   sum    = product { ("+" | "-") product }
//   product = atom { ("*" | "/") atom }
//   atom   = [ "-" ] ( number | name | "(" sum ")" )
//
// `name ? A : B` takes A where the i64 parameter `name` is not 0. In sums, `*rows` is named `rows`
// and stands for the product of its axes. A symbol gets its value where it first stands alone in a
// shape; elsewhere it must then agree.
//
// A text is compiled once, with the names of its op (schema/expression_compiler.h); matching and
// evaluating read the compiled form and allocate nothing. Extents, rows and sums count elements,
// rows or operations, as their schema says. A compiled text is constant and may be used by any
// thread; a scope belongs to one thread.
#pragma once

#include "schema/affine.h"

#include <tapml/tensor.h>

enum {
    EXPRESSION_SYMBOLS_MAX = 24,
    EXPRESSION_NAME_BYTES = 32, // With the NUL at the end.
    EXPRESSION_NONE = 255       // No symbol.
};

// The symbols of one op's schema: a symbol is an index into `names`.
struct expression_names {
    uint32_t count;
    char names[EXPRESSION_SYMBOLS_MAX][EXPRESSION_NAME_BYTES];
};

// The symbol of that name, or EXPRESSION_NONE.
uint32_t expression_find(const struct expression_names *names, const char *name);

// A compiled text.
struct expression;

// Whether a text is a range "A .. B".
int expression_is_range(const struct expression *expression);

// Whether the symbol occurs in the text.
int expression_has(const struct expression *expression, uint32_t symbol);

// Whether the symbol stands for leading axes, "*rows", in a shape.
int expression_has_rows(const struct expression *expression, uint32_t symbol);

// Whether the first axis of a shape is the symbol alone.
int expression_begins_with(const struct expression *expression, uint32_t symbol);

// Whether each of the shapes that the text may stand for has the symbol alone as an axis, or
// leading axes.
int expression_has_axis(const struct expression *expression, uint32_t symbol);

// What the symbols of one op's schema stand for while the arguments of a call are matched. What is
// not bound is undefined beside `is_bound`.
struct expression_scope {
    const struct expression_names *names; // Borrowed.
    struct expression_symbol {
        int is_bound;
        int is_known;        // Bound, and 0: the product of the axes is not affine.
        uint32_t axis_count; // Of `*rows`; else 0.
        struct affine value; // Of `*rows`: the product.
        struct affine axes[TAPML_MAX_RANK];
    } symbols[EXPRESSION_SYMBOLS_MAX];
};

// A scope without values.
void expression_scope_init(struct expression_scope *scope, const struct expression_names *names);

// Gives a symbol that has none a value: the i64 parameters, before shapes are matched.
void expression_define(struct expression_scope *scope, uint32_t symbol, const struct affine *value);

// Matches an actual shape against that of a schema: binds what is new, compares the rest.
// TAPML_INVALID says which axis is wrong: "axis 1 is 96, 'in' is 128".
tapml_status expression_match(struct expression_scope *scope,
                              const struct expression *expression,
                              const struct affine *shape,
                              uint32_t rank) STATUS_USED;

// The shape that a schema's stands for. TAPML_INVALID where a symbol has no value or an axis is not
// affine; nothing is written then.
tapml_status expression_shape(const struct expression_scope *scope,
                              const struct expression *expression,
                              struct affine *out_shape,
                              uint32_t *out_rank) STATUS_USED;

// The axes of a tensor of that rank that are the symbol alone, or its leading axes; `*out_count` is
// 0 where there are none, and where a condition of the shape has no value.
void expression_axes(const struct expression_scope *scope,
                     const struct expression *expression,
                     uint32_t symbol,
                     uint32_t rank,
                     uint32_t *out_first,
                     uint32_t *out_count);

// The value of a sum such as "2 * rows * in * out"; the text is no range.
// TAPML_INVALID where a symbol has no value or the result is no plain number.
tapml_status expression_value(const struct expression_scope *scope,
                              const struct expression *expression,
                              int64_t *out_value) STATUS_USED;

// Both ends of "position .. position + T"; errors as those of `expression_value`.
tapml_status expression_range(const struct expression_scope *scope,
                              const struct expression *expression,
                              int64_t *out_begin,
                              int64_t *out_end) STATUS_USED;

// The same where they need not be plain numbers.
tapml_status expression_range_affine(const struct expression_scope *scope,
                                     const struct expression *expression,
                                     struct affine *out_begin,
                                     struct affine *out_end) STATUS_USED;
