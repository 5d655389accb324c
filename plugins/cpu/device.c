// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include "object.h"
#include "reference/reference.h"

#include <tapml/ops.h>

#include <inttypes.h>
#include <string.h>

static tapml_status devices(tapml_object *backend,
                            tapml_call *call,
                            const tapml_device_info *const **out_list,
                            uint32_t *out_count)
{
    *out_list = object_of(backend)->list->infos;
    *out_count = object_of(backend)->list->count;
    return TAPML_OK;
}

static tapml_status
open_device(tapml_object *backend, tapml_call *call, const char *id, tapml_object **out_device)
{
    const struct device_list *list = object_of(backend)->list;
    struct object seed = *object_of(backend);

    for (uint32_t i = 0; i < list->count; i++) {
        if (strcmp(list->infos[i]->id, id) == 0) {
            seed.device = list->devices[i];
            return object_new(&seed, call, 0, out_device);
        }
    }
    return object_fail(&seed, call, TAPML_NOT_FOUND, "no device '%s', the first is '%s'", id,
                       list->infos[0]->id);
}

static tapml_status ops(tapml_object *device,
                        tapml_call *call,
                        const tapml_op_impl *const **out_list,
                        uint32_t *out_count)
{
    *out_list = object_of(device)->device->impls;
    *out_count = TAPML_OPS_COUNT;
    return TAPML_OK;
}

static tapml_status supports(tapml_object *device,
                             tapml_call *call,
                             const tapml_op *op,
                             const tapml_value *args,
                             uint32_t n_args,
                             tapml_support *answer)
{
    reference_supports(object_of(device)->device, op, args, n_args, answer);
    return TAPML_OK;
}

static tapml_status buffer_new(tapml_object *device,
                               tapml_call *call,
                               uint32_t memory_type,
                               uint64_t size,
                               tapml_object **out_buffer)
{
    return object_new(object_of(device), call, size, out_buffer);
}

static tapml_status buffer_wrap(tapml_object *device,
                                tapml_call *call,
                                void *memory,
                                uint64_t size,
                                uint32_t access,
                                tapml_object **out_buffer)
{
    const tapml_status status = object_new(object_of(device), call, 0, out_buffer);

    if (status == TAPML_OK) {
        object_of(*out_buffer)->data = memory;
    }
    return status;
}

static tapml_status buffer_map(tapml_object *buffer,
                               tapml_call *call,
                               uint64_t offset,
                               uint64_t size,
                               uint32_t access,
                               void **out_memory)
{
    *out_memory = object_of(buffer)->data + offset;
    return TAPML_OK;
}

static tapml_status buffer_unmap(tapml_object *buffer, tapml_call *call)
{
    return TAPML_OK;
}

static tapml_status queue_new(tapml_object *device, tapml_call *call, tapml_object **out_queue)
{
    return object_new(object_of(device), call, 0, out_queue);
}

static tapml_status queue_write(tapml_object *queue,
                                tapml_call *call,
                                tapml_object *buffer,
                                uint64_t offset,
                                const void *source,
                                uint64_t size)
{
    memcpy(object_of(buffer)->data + offset, source, (size_t)size);
    return TAPML_OK;
}

static tapml_status queue_read(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *buffer,
                               uint64_t offset,
                               void *target,
                               uint64_t size)
{
    memcpy(target, object_of(buffer)->data + offset, (size_t)size);
    return TAPML_OK;
}

static tapml_status queue_copy(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *source,
                               uint64_t source_offset,
                               tapml_object *target,
                               uint64_t target_offset,
                               uint64_t size)
{
    // Two buffers may wrap the same memory.
    memmove(object_of(target)->data + target_offset, object_of(source)->data + source_offset,
            (size_t)size);
    return TAPML_OK;
}

static tapml_status queue_fill(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *buffer,
                               uint64_t offset,
                               uint64_t size,
                               uint32_t pattern)
{
    unsigned char *data = object_of(buffer)->data + offset;

    for (uint64_t done = 0; done < size; done += sizeof(pattern)) {
        memcpy(data + done, &pattern, sizeof(pattern));
    }
    return TAPML_OK;
}

static tapml_status queue_signal(tapml_object *queue, tapml_call *call, tapml_point point)
{
    object_of(point.timeline)->reached = point.value;
    return TAPML_OK;
}

static tapml_status
timeline_new(tapml_object *device, tapml_call *call, uint64_t initial, tapml_object **out_timeline)
{
    const tapml_status status = object_new(object_of(device), call, 0, out_timeline);

    if (status == TAPML_OK) {
        object_of(*out_timeline)->reached = initial;
    }
    return status;
}

static tapml_status timeline_value(tapml_object *timeline, tapml_call *call, uint64_t *out_value)
{
    *out_value = object_of(timeline)->reached;
    return TAPML_OK;
}

static tapml_status
timeline_wait(tapml_object *timeline, tapml_call *call, uint64_t value, uint64_t timeout_ns)
{
    const struct object *own = object_of(timeline);

    if (own->reached < value) {
        return object_fail(own, call, TAPML_DEADLINE,
                           "the timeline stands at %" PRIu64 ", and no work is queued that would "
                           "raise it to %" PRIu64,
                           own->reached, value);
    }
    return TAPML_OK;
}

// A signal that has been queued is reached already.
static tapml_status queue_wait(tapml_object *queue, tapml_call *call, tapml_point point)
{
    return timeline_wait(point.timeline, call, point.value, 0);
}

static tapml_status timeline_notify(
    tapml_object *timeline, tapml_call *call, uint64_t value, tapml_notified function, void *user)
{
    const tapml_status status = timeline_wait(timeline, call, value, 0);

    if (status == TAPML_OK) {
        function(user, TAPML_OK);
    }
    return status;
}

static const tapml_backend device_backend = {
    .hdr = TAPML_HDR(tapml_backend),
    .devices = devices,
    .open = open_device,
    .ops = ops,
    .supports = supports,
    .buffer_new = buffer_new,
    .buffer_wrap = buffer_wrap,
    .buffer_map = buffer_map,
    .buffer_unmap = buffer_unmap,
    .queue_new = queue_new,
    .queue_write = queue_write,
    .queue_read = queue_read,
    .queue_copy = queue_copy,
    .queue_fill = queue_fill,
    .queue_signal = queue_signal,
    .timeline_new = timeline_new,
    .timeline_value = timeline_value,
    .timeline_wait = timeline_wait,
    .queue_wait = queue_wait,
    .timeline_notify = timeline_notify,
};

tapml_status device_root_new(const tapml_host *host,
                             tapml_call *call,
                             const struct device_list *list,
                             uint64_t extra_bytes,
                             tapml_object **out_root)
{
    const struct object seed = {
        .host = host,
        .core = host->interface_of(host, TAPML_HOST_CORE),
        .work = host->interface_of(host, TAPML_HOST_WORK),
        .backend = &device_backend,
        .list = list,
    };

    return object_new(&seed, call, extra_bytes, out_root);
}
