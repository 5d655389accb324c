// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <tapml/backend.h>

static tapml_status make(struct driver_device *device,
                         tapml_call *call,
                         cl_mem_flags flags,
                         uint64_t size,
                         void *memory,
                         struct driver_buffer **out_buffer)
{
    const struct gpu_host *host = device->root->host;
    struct driver_buffer *buffer = gpu_alloc(host, sizeof(*buffer));
    cl_int code = CL_OUT_OF_HOST_MEMORY;

    if (buffer != NULL) {
        buffer->memory =
            device->root->cl.clCreateBuffer(device->context, flags, (size_t)size, memory, &code);
    }
    if (code != CL_SUCCESS) {
        gpu_free(host, buffer, sizeof(*buffer));
        return driver_check(host, call, code, "clCreateBuffer");
    }
    *out_buffer = buffer;
    return TAPML_OK;
}

tapml_status memory_new(struct driver_device *device,
                        tapml_call *call,
                        uint64_t size,
                        struct driver_buffer **out_buffer)
{
    return make(device, call, CL_MEM_READ_WRITE, size, NULL, out_buffer);
}

tapml_status memory_import(struct driver_device *device,
                           tapml_call *call,
                           void *memory,
                           uint64_t size,
                           uint32_t access,
                           struct driver_buffer **out_buffer)
{
    const cl_mem_flags kind =
        (access & TAPML_ACCESS_WRITE) != 0 ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY;

    return make(device, call, kind | CL_MEM_USE_HOST_PTR, size, memory, out_buffer);
}

void memory_free(struct driver_device *device, struct driver_buffer *buffer)
{
    (void)device->root->cl.clReleaseMemObject(buffer->memory); // Only a foreign handle can fail.
    gpu_free(device->root->host, buffer, sizeof(*buffer));
}

tapml_status memory_write(struct driver_device *device,
                          tapml_call *call,
                          struct driver_buffer *buffer,
                          uint64_t offset,
                          const void *source,
                          uint64_t size)
{
    return driver_check(device->root->host, call,
                        device->root->cl.clEnqueueWriteBuffer(device->queue, buffer->memory,
                                                              CL_FALSE, (size_t)offset,
                                                              (size_t)size, source, 0, NULL, NULL),
                        "clEnqueueWriteBuffer");
}

tapml_status memory_read(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *buffer,
                         uint64_t offset,
                         void *target,
                         uint64_t size)
{
    return driver_check(device->root->host, call,
                        device->root->cl.clEnqueueReadBuffer(device->queue, buffer->memory,
                                                             CL_FALSE, (size_t)offset, (size_t)size,
                                                             target, 0, NULL, NULL),
                        "clEnqueueReadBuffer");
}

tapml_status memory_copy(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *source,
                         uint64_t source_offset,
                         struct driver_buffer *target,
                         uint64_t target_offset,
                         uint64_t size)
{
    return driver_check(device->root->host, call,
                        device->root->cl.clEnqueueCopyBuffer(
                            device->queue, source->memory, target->memory, (size_t)source_offset,
                            (size_t)target_offset, (size_t)size, 0, NULL, NULL),
                        "clEnqueueCopyBuffer");
}
