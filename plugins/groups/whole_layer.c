// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Groups of any length, such as a whole layer: what a compiler or a unit for layers would translate
// is interpreted, node by node, with the temporaries that the host provides.
#include "device.h"
#include "kernels.h"

#include <stdio.h>

static tapml_status
supports(tapml_object *device, tapml_call *call, const tapml_group *group, tapml_support *answer)
{
    (void)device;
    (void)call;
    answer->grade = TAPML_SUPPORT_YES;
    for (uint32_t i = 0; i < group->n_nodes && answer->grade == TAPML_SUPPORT_YES; i++) {
        const tapml_group_node *node = group->nodes[i];
        const char *obstacle = kernel_obstacle(node->op, node->args);
        if (obstacle) {
            answer->grade = TAPML_SUPPORT_NO;
            (void)snprintf(answer->reason, sizeof(answer->reason), "%.60s: %.50s",
                           node->label[0] ? node->label : node->op->name, obstacle);
        }
    }
    return TAPML_OK;
}

static tapml_status run(tapml_object *queue, tapml_call *call, const tapml_group *group)
{
    (void)queue;
    (void)call;
    for (uint32_t i = 0; i < group->n_nodes; i++) {
        kernel_run(group->nodes[i]->op, group->nodes[i]->args);
    }
    return TAPML_OK;
}

const tapml_subgraph whole_layer_subgraph = {TAPML_HDR(tapml_subgraph), supports, run};
