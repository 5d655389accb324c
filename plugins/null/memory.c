// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include "object.h"

#include <string.h>

tapml_status memory_new(tapml_object *device,
                        tapml_call *call,
                        uint32_t memory_type,
                        uint64_t size,
                        tapml_object **out_buffer)
{
    return object_new(object_of(device), call, size, out_buffer);
}

tapml_status memory_wrap(tapml_object *device,
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

tapml_status memory_map(tapml_object *buffer,
                        tapml_call *call,
                        uint64_t offset,
                        uint64_t size,
                        uint32_t access,
                        void **out_memory)
{
    *out_memory = object_of(buffer)->data + offset;
    return TAPML_OK;
}

tapml_status memory_unmap(tapml_object *buffer, tapml_call *call)
{
    return TAPML_OK;
}

tapml_status memory_write(tapml_object *queue,
                          tapml_call *call,
                          tapml_object *buffer,
                          uint64_t offset,
                          const void *source,
                          uint64_t size)
{
    memcpy(object_of(buffer)->data + offset, source, (size_t)size);
    return TAPML_OK;
}

tapml_status memory_read(tapml_object *queue,
                         tapml_call *call,
                         tapml_object *buffer,
                         uint64_t offset,
                         void *target,
                         uint64_t size)
{
    memcpy(target, object_of(buffer)->data + offset, (size_t)size);
    return TAPML_OK;
}

tapml_status memory_copy(tapml_object *queue,
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

tapml_status memory_fill(tapml_object *queue,
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
