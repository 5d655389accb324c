// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/device_buffers.h"

#include "plugin/device_state.h"

tapml_status device_buffers_new(struct backend *backend, uint64_t size, tapml_object **out_buffer)
{
    struct device *device = device_own(backend);
    TAPML_TRY(device_state_begin(device));
    return device_state_finish(
        device, device->table->buffer_new(device->device, &device->call, 0, size, out_buffer),
        "buffer_new");
}

tapml_status device_buffers_wrap(struct backend *backend,
                                 void *memory,
                                 uint64_t size,
                                 uint32_t access,
                                 tapml_object **out_buffer)
{
    struct device *device = device_own(backend);
    TAPML_TRY(device_state_begin(device));
    const tapml_status status =
        device_memory_wrap(&device->memory, &device->call, memory, size, access, out_buffer);
    return device_state_finish(device, status, "buffer_wrap");
}

void device_buffers_free(struct backend *backend, tapml_object *buffer)
{
    buffer->vt->release(buffer);
}

static tapml_status begin_transfer(struct device *device)
{
    device_state_note_work(device);
    return device_state_begin(device);
}

tapml_status device_buffers_write(struct backend *backend,
                                  tapml_object *buffer,
                                  uint64_t offset,
                                  const void *source,
                                  uint64_t size)
{
    struct device *device = device_own(backend);
    TAPML_TRY(begin_transfer(device));
    const tapml_status status =
        device->table->queue_write(device->queue, &device->call, buffer, offset, source, size);
    return device_state_finish(device, status, "queue_write");
}

tapml_status device_buffers_read(
    struct backend *backend, tapml_object *buffer, uint64_t offset, void *target, uint64_t size)
{
    struct device *device = device_own(backend);
    TAPML_TRY(begin_transfer(device));
    const tapml_status status =
        device->table->queue_read(device->queue, &device->call, buffer, offset, target, size);
    return device_state_finish(device, status, "queue_read");
}

tapml_status device_buffers_fill(
    struct backend *backend, tapml_object *buffer, uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct device *device = device_own(backend);
    TAPML_TRY(begin_transfer(device));
    const tapml_status status =
        device->table->queue_fill(device->queue, &device->call, buffer, offset, size, pattern);
    return device_state_finish(device, status, "queue_fill");
}

tapml_status device_buffers_copy(struct backend *backend, const struct backend_copy *copy)
{
    struct device *device = device_own(backend);
    TAPML_TRY(begin_transfer(device));
    const tapml_status status =
        device->table->queue_copy(device->queue, &device->call, copy->source, copy->source_offset,
                                  copy->target, copy->target_offset, copy->size);
    return device_state_finish(device, status, "queue_copy");
}

// Memory of the host alone: of other devices that is a mapping at a price.
tapml_status device_buffers_map(struct backend *backend,
                                tapml_object *buffer,
                                uint64_t offset,
                                uint64_t size,
                                const void **out_memory)
{
    struct device *device = device_own(backend);
    void *memory = NULL;
    if (!device->info.is_host_memory || !TAPML_HAS_FN(tapml_backend, device->table, buffer_map) ||
        !TAPML_HAS_FN(tapml_backend, device->table, buffer_unmap)) {
        return TAPML_OK;
    }
    TAPML_TRY(device_state_begin(device));
    TAPML_TRY(device_state_finish(
        device,
        device->table->buffer_map(buffer, &device->call, offset, size, TAPML_ACCESS_READ, &memory),
        "buffer_map"));
    *out_memory = memory;
    return TAPML_OK;
}

void device_buffers_unmap(struct backend *backend, tapml_object *buffer)
{
    struct device *device = device_own(backend);
    services_begin(&device->call);
    // Nothing was written: a failure changes nothing.
    (void)device_state_finish(device, device->table->buffer_unmap(buffer, &device->call),
                              "buffer_unmap");
}
