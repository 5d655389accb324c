// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A device of ordinary memory (<tapml/memory/backend.h>) that takes a group of two neighbouring ops
// in one pass: `add`, and the `rms_norm` that reads the sum. It has no op of its own.
// <tapml/draft/subgraph.h> is the manual.
#include "note.h"

#include <tapml/draft/subgraph.h>
#include <tapml/memory/backend.h>
#include <tapml/memory/object.h>
#include <tapml/plugin.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// The parameters of the two ops, in the order of their descriptions.
enum { ADD_A, ADD_B, ADD_Y };
enum { NORM_X, NORM_WEIGHT, NORM_EPS, NORM_OFFSET, NORM_Y };

static int is_op(const tapml_group_node *node, const char *name)
{
    return strcmp(node->op->name, name) == 0 && node->op->version == 1;
}

static const tapml_tensor *tensor_of(const tapml_group_node *node, uint32_t param)
{
    return node->args[param].u.p;
}

// The value that a node writes: its last tensor.
static uint32_t output_of(const tapml_group_node *node)
{
    return node->values[node->n_values - 1];
}

// Whether the values of a tensor are f32 and stand in a row, without gaps.
static int is_plain(const tapml_tensor *tensor)
{
    return tensor->dtype == TAPML_F32 && !tensor->stride && !tensor->encoding && !tensor->next &&
           !tensor->spans;
}

static const char *obstacle_of(const tapml_group *group)
{
    const tapml_group_node *add = group->nodes[0], *norm = group->nodes[group->n_nodes - 1];

    if (group->n_nodes != 2 || !is_op(add, "tapml.add") || !is_op(norm, "tapml.rms_norm")) {
        return "it takes add and the rms_norm behind it";
    }
    if (norm->values[0] != output_of(add) ||
        tensor_of(norm, NORM_X)->rank != tensor_of(add, ADD_Y)->rank) {
        return "the norm reads the sum as it is";
    }
    if (norm->args[NORM_WEIGHT].kind == TAPML_V_NONE || !is_plain(tensor_of(norm, NORM_WEIGHT))) {
        return "the norm has a weight of f32";
    }
    return is_plain(tensor_of(add, ADD_A)) && is_plain(tensor_of(add, ADD_B)) &&
                   is_plain(tensor_of(add, ADD_Y)) && is_plain(tensor_of(norm, NORM_X)) &&
                   is_plain(tensor_of(norm, NORM_Y))
               ? NULL
               : "it takes dense tensors of f32";
}

static tapml_status
takes(tapml_object *device, tapml_call *call, const tapml_group *group, tapml_support *answer)
{
    const char *obstacle = obstacle_of(group);

    answer->grade = obstacle ? TAPML_SUPPORT_NO : TAPML_SUPPORT_YES;
    (void)snprintf(answer->reason, sizeof(answer->reason), "%s", obstacle ? obstacle : "");
    return TAPML_OK;
}

// Writes the sum and gives its mean square. The sum has memory also where the group keeps it to
// itself, as a temporary.
static double add_row(const float *a, const float *b, float *sum, int64_t width)
{
    double squares = 0;

    for (int64_t i = 0; i < width; i++) {
        sum[i] = a[i] + b[i];
        squares += (double)sum[i] * sum[i];
    }
    return squares / (double)width;
}

static tapml_status run(tapml_object *queue, tapml_call *call, const tapml_group *group)
{
    const tapml_group_node *add = group->nodes[0], *norm = group->nodes[1];
    const float *a = memory_at(tensor_of(add, ADD_A)), *b = memory_at(tensor_of(add, ADD_B));
    const float *weight = memory_at(tensor_of(norm, NORM_WEIGHT));
    const double eps = norm->args[NORM_EPS].u.d, offset = norm->args[NORM_OFFSET].u.d;
    const tapml_tensor *output = tensor_of(norm, NORM_Y);
    const int64_t width = output->shape[output->rank - 1];
    float *sum = memory_at(tensor_of(add, ADD_Y)), *y = memory_at(output);
    int64_t rows = 1;

    for (uint32_t axis = 0; axis + 1 < output->rank; axis++) {
        rows *= output->shape[axis];
    }
    for (int64_t at = 0; at < rows * width; at += width) {
        const double scale = 1 / sqrt(add_row(a + at, b + at, sum + at, width) + eps);

        for (int64_t i = 0; i < width; i++) {
            y[at + i] = (float)(sum[at + i] * scale * (offset + weight[i]));
        }
    }
    return TAPML_OK;
}

static const tapml_subgraph subgraph = {TAPML_HDR(tapml_subgraph), takes, run};

static const void *interface_of(tapml_object *device, const char *id)
{
    return strcmp(id, TAPML_SUBGRAPH) == 0 ? &subgraph : NULL;
}

static tapml_status ops(tapml_object *device,
                        tapml_call *call,
                        const tapml_op_impl *const **out_list,
                        uint32_t *out_count)
{
    static const tapml_op_impl *const none[] = {NULL};

    *out_list = none;
    *out_count = 0;
    return TAPML_OK;
}

static const tapml_memory_type memory = {
    .hdr = TAPML_HDR(tapml_memory_type),
    .traits = TAPML_MEMORY_DEVICE_LOCAL | TAPML_MEMORY_HOST_VISIBLE,
    .align = MEMORY_OBJECT_ALIGN,
    .max_bytes = UINT64_MAX,
};
static const tapml_device_info info = {
    .hdr = TAPML_HDR(tapml_device_info),
    .id = "host",
    .name = "ordinary memory",
    .traits = TAPML_DEVICE_HOST_MEMORY | TAPML_DEVICE_DETERMINISTIC,
    .n_memory_types = 1,
    .memory_types = (const tapml_memory_type *const[]){&memory},
};
static const struct memory_component devices = {
    .count = 1,
    .infos = (const tapml_device_info *const[]){&info},
    .devices = (const void *const[]){&info}, // Not used: the only device knows all.
    .ops = ops,
    .interface_of = interface_of,
};

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    return memory_backend_create(host, call, &devices, 0, out_root);
}

static const tapml_component sample = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_BACKEND,
    .id = "sample",
    .title = "Sample: a group of operators in one pass",
    .create = create,
};

TAPML_PLUGIN("org.example.sample", "0.1.0", "Example", "Apache-2.0", &sample)
