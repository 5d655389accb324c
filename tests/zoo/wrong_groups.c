// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Takes groups as the example `whole_layer` does, with its kernels, and is wrong where the ops that
// the option `wrong` lists follow one another in a group: "silu linear mul". One name: that op is
// wrong wherever it is.
#include ZOO_NOTE

#include "kernels.h"
#include "rows.h"

#include <tapml/draft/subgraph.h>
#include <tapml/plugin.h>

#include <string.h>

static const tapml_memory_type memory = {
    .hdr = TAPML_HDR(tapml_memory_type),
    .traits = TAPML_MEMORY_DEVICE_LOCAL | TAPML_MEMORY_HOST_VISIBLE,
    .align = MEMORY_OBJECT_ALIGN,
    .max_bytes = UINT64_MAX,
};
static const tapml_memory_type *const memories[] = {&memory};
static const tapml_device_info info = {
    .hdr = TAPML_HDR(tapml_device_info),
    .id = "host",
    .name = "wrong groups",
    .traits = TAPML_DEVICE_HOST_MEMORY | TAPML_DEVICE_DETERMINISTIC,
    .n_memory_types = 1,
    .memory_types = memories,
};
static const tapml_device_info *const infos[] = {&info};

static tapml_status
supports(tapml_object *device, tapml_call *call, const tapml_group *group, tapml_support *answer)
{
    (void)device;
    (void)call;
    answer->grade = TAPML_SUPPORT_YES;
    for (uint32_t i = 0; i < group->n_nodes; i++) {
        if (kernel_obstacle(group->nodes[i]->op, group->nodes[i]->args)) {
            answer->grade = TAPML_SUPPORT_NO;
        }
    }
    return TAPML_OK;
}

// Whether the ops that end with node `last` are those of the list; NULL: none is.
static int is_wrong(const tapml_group *group, uint32_t last, const char *list)
{
    const char *end = list ? list + strlen(list) : NULL;
    while (end && end > list) {
        const char *begin = end;
        while (begin > list && begin[-1] != ' ') {
            begin--;
        }
        const char *name = strrchr(group->nodes[last]->op->name, '.') + 1;
        const size_t length = (size_t)(end - begin);
        if (strlen(name) != length || strncmp(name, begin, length) != 0) {
            return 0;
        }
        end = begin > list ? begin - 1 : begin;
        if (end > list && last-- == 0) {
            return 0;
        }
    }
    return end != NULL;
}

static void spoil(const tapml_group_node *node)
{
    const tapml_tensor *output = NULL;
    for (uint32_t p = 0; p < node->op->n_params; p++) {
        if (node->op->params[p]->kind == TAPML_P_TENSOR_OUT) {
            output = node->args[p].u.p;
        }
    }
    for (int64_t row = 0; output && row < rows_of(output); row++) {
        row_at(output, row)[0] *= 1.5F;
    }
}

static tapml_status run(tapml_object *queue, tapml_call *call, const tapml_group *group)
{
    const struct memory_object *own = memory_object_of(queue);
    const char *list = own->core->option(own->host, "wrong");
    (void)call;
    for (uint32_t i = 0; i < group->n_nodes; i++) {
        kernel_run(group->nodes[i]->op, group->nodes[i]->args);
        if (is_wrong(group, i, list)) {
            spoil(group->nodes[i]);
        }
    }
    return TAPML_OK;
}

static const tapml_subgraph subgraph = {TAPML_HDR(tapml_subgraph), supports, run};
static const void *const devices[] = {&subgraph};

// The op of one node alone, as every device has it.
static tapml_status ops(tapml_object *device,
                        tapml_call *call,
                        const tapml_op_impl *const **out_list,
                        uint32_t *out_count)
{
    static const tapml_op_impl *const none[] = {NULL};
    (void)device;
    (void)call;
    *out_list = none;
    *out_count = 0;
    return TAPML_OK;
}

static const void *interface_of(tapml_object *device, const char *id)
{
    (void)device;
    return strcmp(id, TAPML_SUBGRAPH) == 0 ? &subgraph : NULL;
}

static const struct memory_component devices_of = {
    .count = 1, .infos = infos, .devices = devices, .ops = ops, .interface_of = interface_of};

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    (void)component;
    return memory_backend_create(host, call, &devices_of, 0, out_root);
}

static const tapml_component component = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_BACKEND,
    .id = ZOO_COMPONENT,
    .title = "Wrong groups",
    .create = create,
};

TAPML_PLUGIN("org.example." ZOO_NAME, "1.0.0", "example", "Apache-2.0", &component)
