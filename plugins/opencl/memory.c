// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

tapml_status memory_new(struct driver_device *device,
                        tapml_call *call,
                        uint64_t size,
                        struct driver_buffer **out_buffer)
{
    const struct gpu_host *host = device->root->host;
    struct driver_buffer *buffer = gpu_alloc(host, sizeof(*buffer));
    cl_int code = CL_OUT_OF_HOST_MEMORY;

    if (buffer != NULL) {
        buffer->memory = device->root->cl.clCreateBuffer(device->context, CL_MEM_READ_WRITE,
                                                         (size_t)size, NULL, &code);
    }
    if (code != CL_SUCCESS) {
        gpu_free(host, buffer, sizeof(*buffer));
        return driver_check(host, call, code, "clCreateBuffer");
    }
    *out_buffer = buffer;
    return TAPML_OK;
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
