// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A draft: an optional interface of a device, `interface_of(device, TAPML_SUBGRAPH)`. The device
// takes groups of ops, and answers for each as for an op: a kernel that fuses them, a unit for
// whole layers, a compiler.
//
// A group is an op of its own, whose parameters are what goes in and out at its borders, and whose
// `expands` has its nodes as text. The host records a group at its borders, judges it against the
// same nodes computed one by one, and names the smallest group that is wrong. What the device does
// not take, the host computes there node by node.
#ifndef TAPML_DRAFT_SUBGRAPH_H
#define TAPML_DRAFT_SUBGRAPH_H

#include <tapml/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAPML_SUBGRAPH "tapml.subgraph/1-draft1"

// One op of a group. Valid for the call that gets it.
typedef struct tapml_group_node {
    tapml_hdr hdr;
    const tapml_op *op;
    const char *label;       // For people: "attn/q_proj"; or "".
    const tapml_value *args; // One for each parameter of `op`.

    // In which value each tensor of `args` lies, in the order of the parameters, and of a list in
    // its own order: a parameter of the group, or from `group.op->n_params` on a temporary. A list
    // that is one of the group, as a whole, has no entries.
    const uint32_t *values;
    uint32_t n_values;
    uint32_t reserved; // Zero.
} tapml_group_node;

// A group with arguments. Valid for the call that gets it.
typedef struct tapml_group {
    tapml_hdr hdr;
    const tapml_op *op;                   // Equal names are equal groups.
    const tapml_value *args;              // One for each parameter of `op`.
    const tapml_group_node *const *nodes; // In an order in which they can be computed.
    uint32_t n_nodes;
    uint32_t n_temporaries; // What only the nodes know.
} tapml_group;

typedef struct tapml_subgraph {
    tapml_hdr hdr;

    // Whether the device computes the group as a whole with these arguments; tensors without
    // buffers. As `supports` of the backend: YES is a promise, and not being able is an answer.
    // What has to be compiled for it may be kept; shapes differ from call to call.
    tapml_status (*supports)(tapml_object *device,
                             tapml_call *call,
                             const tapml_group *group,
                             tapml_support *answer);

    // Computes the group at once, or puts the work on the queue; `supports` has said YES. What
    // counts is what it leaves in the parameters that go out. Temporaries have buffers, which it
    // may use or not: their contents are undefined before and after.
    tapml_status (*run)(tapml_object *queue, tapml_call *call, const tapml_group *group);
} tapml_subgraph;

#ifdef __cplusplus
}
#endif

#endif
