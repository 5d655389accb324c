// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

// A graph made by hand, for tests of what runs graphs: small, dense, and as wrong as one likes.
enum { SKETCH_VALUES_MAX = 512, SKETCH_OPS_MAX = 256, SKETCH_PARAMS_MAX = 16 };

struct sketch {
    struct graph graph; // To be used; lives as long as the sketch.
    struct graph_value values[SKETCH_VALUES_MAX];
    struct graph_op ops[SKETCH_OPS_MAX];
    struct graph_argument arguments[SKETCH_OPS_MAX][SKETCH_PARAMS_MAX];
    struct graph_output outputs[SKETCH_VALUES_MAX];
};

void sketch_init(struct sketch *sketch);

// `constant` + `tokens` T.
struct affine sketch_sum(int64_t constant, int64_t tokens);

// A base value of f32 with one axis or two; `rows` may depend on the call.
uint32_t sketch_value(struct sketch *sketch,
                      enum graph_kind kind,
                      const char *name,
                      struct affine rows,
                      int64_t width);

// The columns [begin, end) of a value.
uint32_t sketch_columns(struct sketch *sketch, uint32_t value, int64_t begin, int64_t end);

// An op whose tensors are `values`, in the order of its parameters; GRAPH_NONE leaves one out.
// Other parameters are 0. The op makes the values of its outputs its own.
uint32_t
sketch_op(struct sketch *sketch, const tapml_op *op, const char *instance, const uint32_t *values);

void sketch_output(struct sketch *sketch, const char *name, uint32_t value);
