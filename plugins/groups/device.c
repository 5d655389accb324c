// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include "rows.h"

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
    .name = "groups of operators in ordinary memory",
    .traits = TAPML_DEVICE_HOST_MEMORY | TAPML_DEVICE_DETERMINISTIC,
    .n_memory_types = 1,
    .memory_types = memories,
};
static const tapml_device_info *const infos[] = {&info};

// A device is what it takes groups by.
static const void *const fused_norm_devices[] = {&fused_norm_subgraph};
static const void *const whole_layer_devices[] = {&whole_layer_subgraph};

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
    return strcmp(id, TAPML_SUBGRAPH) == 0 ? memory_object_of(device)->device : NULL;
}

#define COMPONENT(devices_)                                                                        \
    {                                                                                              \
        .count = 1, .infos = infos, .devices = devices_, .ops = ops, .interface_of = interface_of  \
    }
static const struct memory_component fused_norm = COMPONENT(fused_norm_devices);
static const struct memory_component whole_layer = COMPONENT(whole_layer_devices);

tapml_status fused_norm_create(const tapml_host *host, tapml_call *call, tapml_object **out_root)
{
    return memory_backend_create(host, call, &fused_norm, 0, out_root);
}

tapml_status whole_layer_create(const tapml_host *host, tapml_call *call, tapml_object **out_root)
{
    return memory_backend_create(host, call, &whole_layer, 0, out_root);
}
