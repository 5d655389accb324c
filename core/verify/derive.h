// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Derived cases: the neighbours of a kept case, with other values or another shape.
//
// A kept case has the values and the shapes of one run. Outliers hide some faults, uniform values
// hide others, and a tail length that no prompt has is never computed. A recipe names one
// neighbour; its case has inputs and weights of its own, dense, drawn from a seed, and outputs that
// `calibrator_expect` computes. Extents are at most DERIVE_EXTENT_MAX, so that a case of a large
// model has small neighbours.
//
// One thread. New cases are in the arena that is given; the same recipe and seed give the same
// bytes on every machine. TAPML_NO_MEMORY, and the failures that a function names.
#pragma once

#include "base/status.h"
#include "base/text.h"
#include "schema/compiled.h"
#include "store/case.h"
#include "verify/derive_values.h"

struct arena;

// The seed of all draws: the same cases on every machine. Op and label of a case are mixed in.
enum { DERIVE_SEED = 1, DERIVE_EXTENT_MAX = 512, DERIVE_LABEL_TEXT = 96 };

// Eleven kinds of values, and seven extents of each symbol that a schema can have.
enum { DERIVE_RECIPES_MAX = 11 + 7 * EXPRESSION_SYMBOLS_MAX };

enum derive_source {
    DERIVE_UNIFORM,  // The shape of the case, values from [-1, 1].
    DERIVE_BOUNDARY, // The shape of the case, values at the ends of what is legal.
    DERIVE_SHAPE     // Another shape, values from [0, 1]: nothing cancels in a short output.
};

// "uniform", "boundary", "shape". Static.
const char *derive_source_name(enum derive_source source);

struct derive_recipe {
    enum derive_source source;
    char label[DERIVE_LABEL_TEXT]; // "uniform"; "zero", "spread"; "out=33"
    enum derive_values values;     // How inputs are drawn.
    char symbol[32];               // Of a shape: the symbol that is changed, and its value.
    int64_t value;
    char other[32]; // A symbol that is changed with it, and its value; or "".
    int64_t other_value;
};

// Lists the recipes around a case: first all values, then shapes by the symbols of the schema, the
// extents that reveal most first. `out_recipes` has room for DERIVE_RECIPES_MAX, which is enough.
// TAPML_INVALID if the case is no call of the op.
tapml_status derive_list(const struct carved_case *item,
                         const struct compiled_op *schema,
                         struct derive_recipe *out_recipes,
                         uint32_t *out_count) STATUS_USED;

// For a shape that no backend computes, because the op couples two extents in a way that the schema
// does not express (query heads are a multiple of key heads, pairs fit into a head): a recipe in
// which another symbol, a multiple or a divisor of the first one, changes with it in the same
// proportion. There may be several; `index` counts them from 0. `*out_has` is 0 after the last one.
tapml_status derive_couple(const struct carved_case *item,
                           const struct compiled_op *schema,
                           const struct derive_recipe *recipe,
                           uint32_t index,
                           struct derive_recipe *out_recipe,
                           int *out_has) STATUS_USED;

// Finds the recipe around a case, coupled or not, with this source and label. `*out_has` is 0 if
// there is none.
tapml_status derive_find(const struct carved_case *item,
                         const struct compiled_op *schema,
                         const char *source,
                         const char *label,
                         struct derive_recipe *out_recipe,
                         int *out_has) STATUS_USED;

// Makes the case of a recipe in `arena`. Its shape class is the recipe's label. TAPML_INVALID if
// the schema does not allow the call or the call is too large.
tapml_status derive_make(const struct carved_case *item,
                         const struct compiled_op *schema,
                         const struct derive_recipe *recipe,
                         struct arena *arena,
                         struct carved_case *out_case) STATUS_USED;

// "tapml.linear x=2,33 w=64,33 transposed=0": appends all that makes the shape of a case; two cases
// of one shape have the same text.
void derive_print_shape(const struct carved_case *item, struct text *out);
