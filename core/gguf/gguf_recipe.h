// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How a tensor of a model folder follows from tensors of a GGUF file: rows are put in another
// order, tensors are split or put together, and a few values are changed. Rows stay as they are, so
// tensors in blocks need not be decoded for that. What needs single values of blocks, or has rows
// of several types, is made in F32.
#pragma once

#include "base/status.h"
#include "gguf/gguf.h"

enum { GGUF_RECIPE_SOURCES_MAX = 6, GGUF_RECIPE_RANK_MAX = 5 };

// Some of the rows of a tensor, all of its last axis. A tensor of one axis has rows of one value.
struct gguf_recipe_source {
    const struct gguf_tensor *tensor;
    uint64_t first, count; // Rows.
    int64_t rotary_heads;  // 0, or the heads in which pairs stand side by side that are to be
                           // half a head apart.
    int is_transposed;     // Each matrix of the last two axes has to be transposed.
    int is_flat;           // Each value counts as a row.
};

enum gguf_recipe_change {
    GGUF_RECIPE_SAME,
    GGUF_RECIPE_ADD,
    GGUF_RECIPE_MULTIPLY,
    GGUF_RECIPE_LOG_NEGATIVE,
    GGUF_RECIPE_FILL, // All are `number`.
};

struct gguf_recipe {
    struct gguf_recipe_source sources[GGUF_RECIPE_SOURCES_MAX]; // At least one.
    size_t source_count;
    int64_t groups; // Of each source in turn, a part of its rows: one part for each group.
    enum gguf_recipe_change change;
    double number; // What is added or multiplied by, or what all are.
    uint32_t rank;
    int64_t shape[GGUF_RECIPE_RANK_MAX]; // Of what is made.
};

// Checks that sources, groups and heads fit one another; messages use `name` for what is made.
tapml_status gguf_recipe_check(const struct gguf_recipe *recipe, const char *name) STATUS_USED;

// Checks that the shape of what is made has as many values as its sources: tensors that become one
// may have different numbers of matrices, one of them none.
tapml_status gguf_recipe_check_shape(const struct gguf_recipe *recipe,
                                     const char *name) STATUS_USED;

// Returns the type of what is made.
const struct gguf_type *gguf_recipe_type(const struct gguf_recipe *recipe);

// Returns the bytes of what is made.
uint64_t gguf_recipe_bytes(const struct gguf_recipe *recipe);

// Returns where what is made lies in the file already, or NULL if it has to be made.
const unsigned char *gguf_recipe_mapped(const struct gguf_recipe *recipe);

// Makes it. `out_data` has room for gguf_recipe_bytes and is aligned for its elements.
tapml_status gguf_recipe_make(const struct gguf_recipe *recipe, void *out_data) STATUS_USED;
