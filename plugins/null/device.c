// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include "memory.h"
#include "object.h"
#include "ops.h"
#include "queue.h"

#include <string.h>

static const tapml_memory_type memory = {
    .hdr = TAPML_HDR(tapml_memory_type),
    .traits = TAPML_MEMORY_DEVICE_LOCAL | TAPML_MEMORY_HOST_VISIBLE,
    .align = OBJECT_ALIGN,
    .max_bytes = UINT64_MAX,
};

// What a driver says of its device. One whose memory the host cannot reach has neither trait of the
// host's memory, and no `buffer_map` and `buffer_wrap` below.
static const tapml_device_info info = {
    .hdr = TAPML_HDR(tapml_device_info),
    .id = "host",
    .name = "ordinary memory",
    .traits = TAPML_DEVICE_HOST_MEMORY | TAPML_DEVICE_DETERMINISTIC,
    .n_memory_types = 1,
    .memory_types = (const tapml_memory_type *const[]){&memory},
};
static const tapml_device_info *const infos[] = {&info};

static tapml_status devices(tapml_object *backend,
                            tapml_call *call,
                            const tapml_device_info *const **out_list,
                            uint32_t *out_count)
{
    *out_list = infos;
    *out_count = 1;
    return TAPML_OK;
}

static tapml_status
open_device(tapml_object *backend, tapml_call *call, const char *id, tapml_object **out_device)
{
    if (strcmp(id, info.id) != 0) {
        return object_fail(object_of(backend), call, TAPML_NOT_FOUND, "the only device is 'host'");
    }
    return object_new(object_of(backend), call, 0, out_device);
}

static const tapml_backend device_backend = {
    .hdr = TAPML_HDR(tapml_backend),
    .devices = devices,
    .open = open_device,
    .ops = ops_list,
    .supports = ops_supports,
    .buffer_new = memory_new,
    .buffer_wrap = memory_wrap,
    .buffer_map = memory_map,
    .buffer_unmap = memory_unmap,
    .queue_new = queue_new,
    .queue_write = memory_write,
    .queue_read = memory_read,
    .queue_copy = memory_copy,
    .queue_fill = memory_fill,
    .queue_signal = queue_signal,
    .timeline_new = queue_timeline_new,
    .timeline_value = queue_timeline_value,
    .timeline_wait = queue_timeline_wait,
};

tapml_status device_root_new(const tapml_host *host, tapml_call *call, tapml_object **out_root)
{
    const struct object seed = {
        .host = host,
        .core = host->interface_of(host, TAPML_HOST_CORE),
        .backend = &device_backend,
    };

    return object_new(&seed, call, 0, out_root);
}
