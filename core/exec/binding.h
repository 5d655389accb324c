// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The arguments of an op of a graph, made once; what depends on the call is put in for each call.
//
// One thread.
#pragma once

#include "device/backend.h"
#include "exec/space.h"
#include "graph/graph.h"

struct arena;
struct resident;

// A tensor among the arguments.
struct binding_tensor {
    tapml_tensor tensor; // `offset` and `buffer` are those of the call.
    uint32_t value;      // In the graph.
    uint32_t param;
    uint64_t view_offset; // Bytes into the base value, in this call.
    int64_t shape[TAPML_MAX_RANK];
    int64_t stride[TAPML_MAX_RANK];
    struct resident *resident[SPACE_PLACES_MAX]; // Weights and constants: where compiled.
};

struct binding {
    const struct graph *graph;
    const struct graph_op *op;
    tapml_value *args;              // One for each parameter.
    struct backend_origin *origins; // The same.
    struct binding_tensor *tensors; // In the order of the parameters.
    uint32_t tensor_count;
    const tapml_tensor **lists; // What the arguments of several tensors point into.
    int has_position;           // Something of it changes with the position of a call.
    uint64_t bound;             // Of exec/executor: what it is bound for. 0 after an evaluation.
};

// What the op does to a tensor's memory.
enum binding_access { BINDING_READS, BINDING_WRITES, BINDING_UPDATES };

// Lives in `arena`; `graph` outlives it.
tapml_status binding_init(struct binding *binding,
                          const struct graph *graph,
                          uint32_t op,
                          struct arena *arena) STATUS_USED;

// Puts shapes, strides, numbers and origins of a call in. Tensors are without buffers, as
// `supports` and checks want them.
void binding_evaluate(struct binding *binding, const struct affine_point *point);

// Gives what is marked (exec/cast) the dtype that a place of `activation` has it in, and weights
// that stand where an activation could; ACTIVATION_F32 is f32 again. One mark for each value.
void binding_set_activation(struct binding *binding,
                            const activation_set *marks,
                            enum activation activation);

// Gives the tensor `index` its memory: `base` is where the base value begins. A weight that comes
// in panels is bound as it is, so no view of it can be (`binding_is_view`).
void binding_set_buffer(struct binding *binding, uint32_t index, tapml_object *buffer);
void binding_set_weight(struct binding *binding, uint32_t index, const tapml_tensor *base);

// Whether the tensor `index` is a view of a base value.
int binding_is_view(const struct binding *binding, uint32_t index);

// Whether the tensor `index` lies in a weight or a constant, and what the op does to it.
int binding_is_weight(const struct binding *binding, uint32_t index);
enum binding_access binding_access(const struct binding *binding, uint32_t index);
