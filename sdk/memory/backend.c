// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "object_new.h"

#include <inttypes.h>
#include <string.h>

static tapml_status devices(tapml_object *backend,
                            tapml_call *call,
                            const tapml_device_info *const **out_list,
                            uint32_t *out_count)
{
    *out_list = memory_object_of(backend)->component->infos;
    *out_count = memory_object_of(backend)->component->count;
    return TAPML_OK;
}

static tapml_status
open_device(tapml_object *backend, tapml_call *call, const char *id, tapml_object **out_device)
{
    const struct memory_component *component = memory_object_of(backend)->component;
    struct memory_object seed = *memory_object_of(backend);

    seed.root = memory_object_of(backend);

    for (uint32_t i = 0; i < component->count; i++) {
        if (strcmp(component->infos[i]->id, id) == 0) {
            seed.device = component->devices[i];
            return memory_object_new(&seed, call, 0, out_device);
        }
    }
    return memory_fail(&seed, call, TAPML_NOT_FOUND, "no device '%s', the first is '%s'", id,
                       component->infos[0]->id);
}

static tapml_status ops(tapml_object *device,
                        tapml_call *call,
                        const tapml_op_impl *const **out_list,
                        uint32_t *out_count)
{
    return memory_object_of(device)->component->ops(device, call, out_list, out_count);
}

static tapml_status supports(tapml_object *device,
                             tapml_call *call,
                             const tapml_op *op,
                             const tapml_value *args,
                             uint32_t n_args,
                             tapml_support *answer)
{
    return memory_object_of(device)->component->supports(device, call, op, args, n_args, answer);
}

static tapml_status buffer_new(tapml_object *device,
                               tapml_call *call,
                               uint32_t memory_type,
                               uint64_t size,
                               tapml_object **out_buffer)
{
    return memory_object_new(memory_object_of(device), call, size, out_buffer);
}

static tapml_status buffer_wrap(tapml_object *device,
                                tapml_call *call,
                                void *memory,
                                uint64_t size,
                                uint32_t access,
                                tapml_object **out_buffer)
{
    const tapml_status status = memory_object_new(memory_object_of(device), call, 0, out_buffer);

    if (status == TAPML_OK) {
        memory_object_of(*out_buffer)->data = memory;
        memory_object_of(*out_buffer)->bytes = size;
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
    *out_memory = memory_object_of(buffer)->data + offset;
    return TAPML_OK;
}

static tapml_status buffer_unmap(tapml_object *buffer, tapml_call *call)
{
    return TAPML_OK;
}

static tapml_status queue_new(tapml_object *device, tapml_call *call, tapml_object **out_queue)
{
    return memory_object_new(memory_object_of(device), call, 0, out_queue);
}

static tapml_status queue_write(tapml_object *queue,
                                tapml_call *call,
                                tapml_object *buffer,
                                uint64_t offset,
                                const void *source,
                                uint64_t size)
{
    memcpy(memory_object_of(buffer)->data + offset, source, (size_t)size);
    return TAPML_OK;
}

static tapml_status queue_read(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *buffer,
                               uint64_t offset,
                               void *target,
                               uint64_t size)
{
    memcpy(target, memory_object_of(buffer)->data + offset, (size_t)size);
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
    memmove(memory_object_of(target)->data + target_offset,
            memory_object_of(source)->data + source_offset, (size_t)size);
    return TAPML_OK;
}

static tapml_status queue_fill(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *buffer,
                               uint64_t offset,
                               uint64_t size,
                               uint32_t pattern)
{
    unsigned char *data = memory_object_of(buffer)->data + offset;

    for (uint64_t done = 0; done < size; done += sizeof(pattern)) {
        memcpy(data + done, &pattern, sizeof(pattern));
    }
    return TAPML_OK;
}

static tapml_status queue_signal(tapml_object *queue, tapml_call *call, tapml_point point)
{
    memory_object_of(point.timeline)->reached = point.value;
    return TAPML_OK;
}

static tapml_status
timeline_new(tapml_object *device, tapml_call *call, uint64_t initial, tapml_object **out_timeline)
{
    const tapml_status status = memory_object_new(memory_object_of(device), call, 0, out_timeline);

    if (status == TAPML_OK) {
        memory_object_of(*out_timeline)->reached = initial;
    }
    return status;
}

static tapml_status timeline_value(tapml_object *timeline, tapml_call *call, uint64_t *out_value)
{
    *out_value = memory_object_of(timeline)->reached;
    return TAPML_OK;
}

static tapml_status
timeline_wait(tapml_object *timeline, tapml_call *call, uint64_t value, uint64_t timeout_ns)
{
    const struct memory_object *own = memory_object_of(timeline);

    if (own->reached < value) {
        return memory_fail(own, call, TAPML_DEADLINE,
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

const tapml_backend memory_backend_table = {
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

tapml_status memory_backend_create(const tapml_host *host,
                                   tapml_call *call,
                                   const struct memory_component *component,
                                   uint64_t extra_bytes,
                                   tapml_object **out_root)
{
    const struct memory_object seed = {
        .host = host,
        .core = host->interface_of(host, TAPML_HOST_CORE),
        .work = host->interface_of(host, TAPML_HOST_WORK),
        .component = component,
    };
    const tapml_status status = memory_object_new(&seed, call, extra_bytes, out_root);

    if (status == TAPML_OK) {
        memset(memory_object_of(*out_root)->data, 0, (size_t)extra_bytes);
    }
    return status;
}
