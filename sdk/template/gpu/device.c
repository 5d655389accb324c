// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

tapml_status device_describe(struct driver_root *root,
                             tapml_call *call,
                             uint32_t index,
                             struct gpu_description *out_description)
{
    if (index > 0) {
        return gpu_fail(root->host, call, TAPML_NOT_FOUND, 0, "no device %u", index);
    }
    *out_description = (struct gpu_description){
        .id = "0",
        .name = "ordinary memory",
        .buffer_bytes = UINT32_MAX,
    };
    return TAPML_OK;
}

tapml_status device_open(struct driver_root *root,
                         tapml_call *call,
                         uint32_t index,
                         struct gpu_limits *out_limits,
                         struct driver_device **out_device)
{
    struct driver_device *device = gpu_alloc(root->host, sizeof(*device));

    if (device == NULL) {
        return gpu_fail(root->host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    device->root = root;
    // The least that kernels are written for; ask the interface for its own.
    *out_limits = (struct gpu_limits){.group_items = 128, .shared_bytes = 16384, .grid = 65535};
    *out_device = device;
    return TAPML_OK;
}

void device_close(struct driver_device *device)
{
    gpu_free(device->root->host, device, sizeof(*device));
}
