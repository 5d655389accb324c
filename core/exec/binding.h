// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The arguments of an op of a graph, made once; the parts that depend on the call are set for each
// call.
//
// One thread. TAPML_NO_MEMORY is the one failure.
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
    struct resident *resident[SPACE_PLACES_MAX]; // Weights and constants: set by exec/compile.
};

struct binding {
    const struct graph *graph;
    const struct graph_op *op;
    tapml_value *args;              // One for each parameter.
    struct backend_origin *origins; // The same.
    struct binding_tensor *tensors; // In the order of the parameters.
    uint32_t tensor_count;
    const tapml_tensor **lists; // The arguments that are lists point into it.
    int has_position;           // A part of it changes with the position of a call.
    uint64_t bound; // Of exec/executor: the program it is bound for. 0 after an evaluation.
};

// How an op uses a tensor's memory.
enum binding_access { BINDING_READS, BINDING_WRITES, BINDING_UPDATES };

// Makes the arguments of the op `op`, an index into the graph. They live in `arena`; `graph`
// outlives them.
tapml_status binding_init(struct binding *binding,
                          const struct graph *graph,
                          uint32_t op,
                          struct arena *arena) STATUS_USED;

// Sets the shapes, strides, numbers and origins of the call at `point`. Tensors have no buffers
// then, as `supports` and the checks expect.
void binding_evaluate(struct binding *binding, const struct affine_point *point);

// Sets the encodings of weights, and the dtypes of those that are plain there, to those on a place
// that takes ENCODING_TAKES_*.
void binding_set_encodings(struct binding *binding, unsigned takes);

// Sets the dtype of marked values (exec/cast), and of weights in parameters that take activations,
// to that of a place of `activation`; ACTIVATION_F32 sets f32 again. `marks` has one for each
// value.
void binding_set_activation(struct binding *binding,
                            const activation_set *marks,
                            enum activation activation);

// Sets the memory of the tensor `index`, a position in `tensors`: the buffer of its base value, or
// the loaded weight `base`. A weight in panels can only be bound whole, never as a view
// (`binding_is_view`).
void binding_set_buffer(struct binding *binding, uint32_t index, tapml_object *buffer);
void binding_set_weight(struct binding *binding, uint32_t index, const tapml_tensor *base);

// Whether the tensor `index` is a view of a base value.
int binding_is_view(const struct binding *binding, uint32_t index);

// Whether the tensor `index` lies in a weight or a constant; how the op uses it.
int binding_is_weight(const struct binding *binding, uint32_t index);
enum binding_access binding_access(const struct binding *binding, uint32_t index);
