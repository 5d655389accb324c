// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The texts of op schemas: shapes, regions, costs, domains.
//
//   shape  = [ name "?" shape ":" shape ] | item { "," item }
//   item   = "*" name | sum                      "*rows": any number of leading axes
//   sum    = product { ("+" | "-") product }
//   product = atom { ("*" | "/") atom }
//   atom   = number | name | "(" sum ")"
//
// `name ? A : B` takes A where the i64 parameter `name` is not 0. In sums, `*rows` is named `rows`
// and stands for the product of its axes. A symbol gets its value where it first stands alone in a
// shape; elsewhere it must then agree.
#pragma once

#include "graph/affine.h"

#include <tapml/op.h>

enum { EXPRESSION_SYMBOLS_MAX = 24 };

// What the names of one op's schema stand for, while its arguments are matched.
struct expression_scope {
    uint32_t count;
    struct expression_symbol {
        char name[32];
        struct affine value; // Of `*rows`: the product.
        int is_known;        // 0: the product of the axes is not affine.
        uint32_t axis_count; // Of `*rows`; else 0.
        struct affine axes[TAPML_MAX_RANK];
    } symbols[EXPRESSION_SYMBOLS_MAX];
};

void expression_scope_init(struct expression_scope *scope);

// Gives a name a value: the i64 parameters, before shapes are matched.
tapml_status expression_define(struct expression_scope *scope,
                               const char *name,
                               const struct affine *value) STATUS_USED;

// Matches an actual shape against the text of a schema: binds what is new, compares the rest.
// TAPML_INVALID says which axis is wrong: "axis 1 is 96, 'in' is 128".
tapml_status expression_match(struct expression_scope *scope,
                              const char *text,
                              const struct affine *shape,
                              uint32_t rank) STATUS_USED;

// The shape that the text stands for. TAPML_INVALID where a symbol has no value.
tapml_status expression_shape(const struct expression_scope *scope,
                              const char *text,
                              struct affine *out_shape,
                              uint32_t *out_rank) STATUS_USED;

// The value of a sum such as "2 * rows * in * out". Products of symbols are evaluated at `point`.
tapml_status expression_value(const struct expression_scope *scope,
                              const char *text,
                              const struct affine_point *point,
                              int64_t *out_value) STATUS_USED;

// Both ends of "position .. position + T".
tapml_status expression_range(const struct expression_scope *scope,
                              const char *text,
                              const struct affine_point *point,
                              int64_t *out_begin,
                              int64_t *out_end) STATUS_USED;

// Whether a shape, a region or a cost is well formed: for schemas of strangers. Domains are the
// fuzzer's, and hold more.
tapml_status expression_check(const char *text) STATUS_USED;
