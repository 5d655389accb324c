// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A model's graph: values, views, ops in the order in which they run.
//
// Plain data, made by graph/builder and then constant. Indices refer to the arrays of the graph.
#pragma once

#include "base/hash.h"
#include "schema/infer.h"

#include <tapml/model.h>

struct arena;
struct text;
struct tiles_spans;

enum graph_kind {
    GRAPH_INPUT,    // What each call brings anew.
    GRAPH_CONSTANT, // A table that never changes, known by its content.
    GRAPH_WEIGHT,   // A tensor of the checkpoint.
    GRAPH_STATE,    // What outlives the call.
    GRAPH_COMPUTED, // An output of an op.
    GRAPH_VIEW      // Another look at `base`.
};

#define GRAPH_NONE UINT32_MAX // No value, no op.

struct graph_value {
    enum graph_kind kind;
    const char *name; // Input, weight, state: theirs. Computed: "<instance>" or "<instance>:param".
    uint32_t base;    // The value whose memory this is: itself unless a view.
    uint32_t dtype;
    uint32_t rank;
    struct affine shape[TAPML_MAX_RANK];
    struct affine stride[TAPML_MAX_RANK]; // In elements.
    struct affine offset;                 // In elements, into `base`.

    uint32_t from;       // Input: TAPML_FROM_*.
    int has_fallback;    // Input.
    double fallback;     // Input: what it is filled with where it is not given.
    double initial;      // State.
    const void *data;    // Constant: dense, in the arena. Weight: in the checkpoint, or NULL.
    uint64_t data_bytes; // Constant, weight.
    const struct tiles_spans *spans; // Weight: as in the checkpoint's tensor.
    const tapml_encoding *encoding;  // Weight, state: then `dtype` is U8. NULL is plain.
    uint32_t producer;               // Computed: the op.
    const char *fold;                // Weight: TAPML_FOLD_*, or NULL.
    int is_of_adapter;               // Weight: it is not encoded at load.
};

struct graph_argument {
    uint32_t kind;          // TAPML_P_* of the parameter, or TAPML_V_NONE.
    uint32_t value;         // Tensor: index of the value.
    uint32_t count;         // TENSORS_IN.
    const uint32_t *values; // TENSORS_IN.
    struct affine i;        // I64.
    double d;               // F64.
};

struct graph_op {
    const char *instance; // "layers.3/attn/q_proj"
    const tapml_op *op;
    const struct compiled_op *schema; // Of `op`; the catalogue's.
    struct graph_argument *arguments; // One for each parameter.
};

struct graph_output {
    const char *name; // "logits"
    uint32_t value;
};

// Tokens of the prompt that stand for rows of another graph of the same model (tapml_part).
struct graph_part {
    const char *component; // The architecture of the other graph.
    const char *output;    // Of that graph.
    int64_t width, token;
    uint32_t rows;   // Input f32 [T, width], named as the output.
    uint32_t others; // Input f32 [T]: 0 at these tokens, 1 elsewhere.
};

struct graph {
    struct arena *arena; // Owns all of it, weights' data excepted.
    struct graph_value *values;
    uint32_t value_count;
    struct graph_op *ops;
    uint32_t op_count;
    struct graph_output *outputs;
    uint32_t output_count;
    struct graph_part *parts;
    uint32_t part_count;
};

void graph_destroy(struct graph *graph);

// The value of the output, input, weight or state of that name, or GRAPH_NONE.
uint32_t graph_find_output(const struct graph *graph, const char *name);
uint32_t graph_find_value(const struct graph *graph, enum graph_kind kind, const char *name);

// The op of that instance, or GRAPH_NONE.
uint32_t graph_find_op(const struct graph *graph, const char *instance);

// What inference is told of an argument: `value` is its value, or the first of its list, or
// GRAPH_NONE.
struct infer_argument graph_describe(const struct graph_value *values,
                                     const struct graph_argument *argument,
                                     uint32_t value);

// The part of which `value` is an input, or NULL.
const struct graph_part *graph_find_part(const struct graph *graph, uint32_t value);

// Bytes of a base value in a call, dense. UINT64_MAX where they do not fit.
uint64_t graph_value_bytes(const struct graph_value *value, const struct affine_point *point);

// A hash of all ops, names, types, shapes and attributes; constants count by their content, which
// is their name. The weights' own bytes are not in it. Zero where there is no memory.
struct hash graph_hash(const struct graph *graph);
