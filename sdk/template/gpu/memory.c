// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <string.h>

tapml_status memory_new(struct driver_device *device,
                        tapml_call *call,
                        uint64_t size,
                        struct driver_buffer **out_buffer)
{
    const struct gpu_host *host = device->root->host;
    struct driver_buffer *buffer = gpu_alloc(host, sizeof(*buffer));
    unsigned char *data = buffer != NULL ? gpu_alloc(host, (size_t)size) : NULL;

    if (data == NULL) {
        gpu_free(host, buffer, sizeof(*buffer));
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    *buffer = (struct driver_buffer){.size_bytes = size, .data = data};
    *out_buffer = buffer;
    return TAPML_OK;
}

void memory_free(struct driver_device *device, struct driver_buffer *buffer)
{
    gpu_free(device->root->host, buffer->data, (size_t)buffer->size_bytes);
    gpu_free(device->root->host, buffer, sizeof(*buffer));
}

tapml_status memory_write(struct driver_device *device,
                          tapml_call *call,
                          struct driver_buffer *buffer,
                          uint64_t offset,
                          const void *source,
                          uint64_t size)
{
    memcpy(buffer->data + offset, source, (size_t)size);
    return TAPML_OK;
}

tapml_status memory_read(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *buffer,
                         uint64_t offset,
                         void *target,
                         uint64_t size)
{
    memcpy(target, buffer->data + offset, (size_t)size);
    return TAPML_OK;
}

tapml_status memory_copy(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *source,
                         uint64_t source_offset,
                         struct driver_buffer *target,
                         uint64_t target_offset,
                         uint64_t size)
{
    memcpy(target->data + target_offset, source->data + source_offset, (size_t)size);
    return TAPML_OK;
}

tapml_status memory_fill(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *buffer,
                         uint64_t offset,
                         uint64_t size,
                         uint32_t pattern)
{
    for (uint64_t done = 0; done < size; done += sizeof(pattern)) {
        memcpy(buffer->data + offset + done, &pattern, sizeof(pattern));
    }
    return TAPML_OK;
}
