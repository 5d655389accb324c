// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A norm and the products that read it, row by row: the row that the norm has made is used while it
// is in the cache, and memory for all rows is not touched unless the group gives them out.
#include "device.h"
#include "kernels.h"
#include "rows.h"

#include <tapml/ops.h>

#include <stdio.h>
#include <string.h>

enum { WIDTH_MAX = 16384 }; // Of a row, which is on the stack.

static int is_op(const tapml_group_node *node, const tapml_op *op)
{
    return strcmp(node->op->name, op->name) == 0 && node->op->version == op->version;
}

// The value that a node writes: its last tensor.
static uint32_t output_of(const tapml_group_node *node)
{
    return node->values[node->n_values - 1];
}

static const tapml_tensor *tensor_of(const tapml_group_node *node, uint32_t param)
{
    return node->args[param].u.p;
}

// A product that reads the rows of the norm as they are, and not through another shape.
static int reads_norm(const tapml_group_node *node, const tapml_group_node *norm)
{
    const tapml_tensor *x = tensor_of(node, TAPML_LINEAR_X);
    const tapml_tensor *y = tensor_of(norm, TAPML_RMS_NORM_Y);
    return node->values[0] == output_of(norm) && !x->stride && width_of(x) == width_of(y) &&
           rows_of(x) == rows_of(y);
}

static const char *obstacle_of(const tapml_group *group)
{
    const tapml_group_node *norm = group->nodes[0];
    if (!is_op(norm, &tapml_rms_norm)) {
        return "a group begins with rms_norm";
    }
    if (width_of(tensor_of(norm, TAPML_RMS_NORM_X)) > WIDTH_MAX) {
        return "rows of more than 16384 values";
    }
    for (uint32_t i = 0; i < group->n_nodes; i++) {
        const tapml_group_node *node = group->nodes[i];
        if (i > 0 && (!is_op(node, &tapml_linear) || !reads_norm(node, norm))) {
            return "what follows the norm is linear, and reads its rows";
        }
        const char *obstacle = kernel_obstacle(node->op, node->args);
        if (obstacle) {
            return obstacle;
        }
    }
    return NULL;
}

static tapml_status
supports(tapml_object *device, tapml_call *call, const tapml_group *group, tapml_support *answer)
{
    const char *obstacle = obstacle_of(group);
    (void)device;
    (void)call;
    answer->grade = obstacle ? TAPML_SUPPORT_NO : TAPML_SUPPORT_YES;
    (void)snprintf(answer->reason, sizeof(answer->reason), "%s", obstacle ? obstacle : "");
    return TAPML_OK;
}

static tapml_status run(tapml_object *queue, tapml_call *call, const tapml_group *group)
{
    const tapml_group_node *norm = group->nodes[0];
    const tapml_tensor *y = tensor_of(norm, TAPML_RMS_NORM_Y);
    const int is_given_out = output_of(norm) < group->op->n_params;
    float row[WIDTH_MAX];
    (void)queue;
    (void)call;
    for (int64_t r = 0; r < rows_of(y); r++) {
        kernel_norm_row(norm->args, r, row);
        if (is_given_out) {
            memcpy(row_at(y, r), row, (size_t)width_of(y) * sizeof(*row));
        }
        for (uint32_t i = 1; i < group->n_nodes; i++) {
            const tapml_tensor *out = tensor_of(group->nodes[i], TAPML_LINEAR_Y);
            for (int64_t n = 0; n < width_of(out); n++) {
                row_at(out, r)[n] = kernel_product(group->nodes[i]->args, row, n);
            }
        }
    }
    return TAPML_OK;
}

const tapml_subgraph fused_norm_subgraph = {TAPML_HDR(tapml_subgraph), supports, run};
