// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "buffers.h"

#include <string.h>

// -- Objects -----------------------------------------------------------------------------------

static void release(tapml_object *object)
{
    struct gpu_buffer *buffer = (struct gpu_buffer *)object;
    const struct gpu_device *device = buffer->device;

    device->root->driver->buffer_free(device->impl, buffer->impl);
    gpu_free(&device->root->host, buffer, sizeof(*buffer));
}

static const tapml_object_vt buffer_vt = {TAPML_HDR(tapml_object_vt), release, gpu_no_interface};

// The object of a buffer that the driver is about to make; NULL without memory.
static struct gpu_buffer *begin(struct gpu_device *device)
{
    struct gpu_buffer *buffer = gpu_alloc(&device->root->host, sizeof(*buffer));

    if (buffer != NULL) {
        buffer->base.vt = &buffer_vt;
        buffer->device = device;
    }
    return buffer;
}

static tapml_status end(struct gpu_buffer *buffer, tapml_status status, tapml_object **out_buffer)
{
    if (status != TAPML_OK) {
        gpu_free(&buffer->device->root->host, buffer, sizeof(*buffer));
        return status;
    }
    *out_buffer = &buffer->base;
    return TAPML_OK;
}

tapml_status gpu_buffer_new(tapml_object *device,
                            tapml_call *call,
                            uint32_t memory_type,
                            uint64_t size,
                            tapml_object **out_buffer)
{
    struct gpu_device *owner = (struct gpu_device *)device;
    struct gpu_buffer *buffer = begin(owner);
    // Whole lane groups: a kernel that reads f32x4 sees the last one too.
    const uint64_t whole = (size + GPU_BUFFER_GRAIN - 1) / GPU_BUFFER_GRAIN * GPU_BUFFER_GRAIN;

    (void)memory_type;
    return buffer == NULL
               ? gpu_no_memory(&owner->root->host, call)
               : end(buffer,
                     owner->root->driver->buffer_new(owner->impl, call, whole, &buffer->impl),
                     out_buffer);
}

// -- Memory of the host ------------------------------------------------------------------------

static tapml_status refuse(const struct gpu_device *device, tapml_call *call, const char *kind)
{
    return gpu_fail(&device->root->host, call, TAPML_UNIMPLEMENTED, 0,
                    "handles of kind '%.100s'; this device imports '" TAPML_HANDLE_POINTER
                    "' and exports none",
                    kind);
}

static tapml_status kinds(tapml_object *device,
                          tapml_call *call,
                          const tapml_handle_kind *const **out_list,
                          uint32_t *out_count)
{
    struct gpu_device *self = (struct gpu_device *)device;

    (void)call;
    *out_list = self->imports.list;
    *out_count = 1;
    return TAPML_OK;
}

static tapml_status buffer_import(tapml_object *device,
                                  tapml_call *call,
                                  const tapml_handle *handle,
                                  uint32_t access,
                                  tapml_object **out_buffer)
{
    struct gpu_device *self = (struct gpu_device *)device;
    const uint64_t grain = self->imports.pointer.grain;

    if (strcmp(handle->kind, TAPML_HANDLE_POINTER) != 0) {
        return refuse(self, call, handle->kind);
    }
    const uint64_t begins = (uintptr_t)handle->pointer + handle->offset;

    if (handle->pointer == NULL || handle->size == 0 || (begins | handle->size) % grain != 0) {
        return gpu_fail(&self->root->host, call, TAPML_INVALID, 0,
                        "%llu bytes at %p, expected multiples of %llu",
                        (unsigned long long)handle->size, (void *)(uintptr_t)begins,
                        (unsigned long long)grain);
    }
    struct gpu_buffer *buffer = begin(self);

    return buffer == NULL
               ? gpu_no_memory(&self->root->host, call)
               : end(buffer,
                     self->root->driver->buffer_import(self->impl, call, (void *)(uintptr_t)begins,
                                                       handle->size, access, &buffer->impl),
                     out_buffer);
}

static tapml_status new_for(tapml_object *device,
                            tapml_call *call,
                            const char *kind,
                            uint64_t size,
                            tapml_object **out_buffer)
{
    (void)size;
    (void)out_buffer;
    return refuse((struct gpu_device *)device, call, kind);
}

static tapml_status
buffer_export(tapml_object *buffer, tapml_call *call, const char *kind, tapml_handle *out_handle)
{
    (void)out_handle;
    return refuse(((struct gpu_buffer *)buffer)->device, call, kind);
}

static const tapml_memory_handles handles = {
    .hdr = TAPML_HDR(tapml_memory_handles),
    .kinds = kinds,
    .buffer_import = buffer_import,
    .buffer_new = new_for,
    .buffer_export = buffer_export,
};

const tapml_memory_handles *gpu_buffer_handles(struct gpu_device *device)
{
    if (device->root->driver->buffer_import == NULL || device->import_grain == 0) {
        return NULL;
    }
    device->imports.pointer = (tapml_handle_kind){.hdr = TAPML_HDR(tapml_handle_kind),
                                                  .id = TAPML_HANDLE_POINTER,
                                                  .traits = TAPML_HANDLE_IMPORTS,
                                                  .grain = device->import_grain};
    device->imports.list[0] = &device->imports.pointer;
    return &handles;
}
