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

    if (buffer != NULL && size <= [device->device maxBufferLength]) {
        buffer->memory = [device->device newBufferWithLength:(NSUInteger)size
                                                     options:MTLResourceStorageModeShared];
    }
    if (buffer == NULL || buffer->memory == nil) {
        gpu_free(host, buffer, sizeof(*buffer));
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "newBufferWithLength: no memory");
    }
    *out_buffer = buffer;
    return TAPML_OK;
}

void memory_free(struct driver_device *device, struct driver_buffer *buffer)
{
    [buffer->memory release];
    gpu_free(device->root->host, buffer, sizeof(*buffer));
}

// Where nothing is queued the CPU may touch a buffer itself. Else its bytes go through one of their
// own, in order with the rest.
static int is_idle(const struct driver_device *device)
{
    return device->count == 0 && !device->has_failed;
}

static tapml_status no_memory(const struct driver_device *device, tapml_call *call)
{
    return gpu_fail(device->root->host, call, TAPML_NO_MEMORY, 0, "no memory for a transfer");
}

tapml_status memory_write(struct driver_device *device,
                          tapml_call *call,
                          struct driver_buffer *buffer,
                          uint64_t offset,
                          const void *source,
                          uint64_t size)
{
    id<MTLBlitCommandEncoder> encoder = nil;

    if (size == 0 || is_idle(device)) {
        memcpy((char *)[buffer->memory contents] + offset, source, (size_t)size);
        return TAPML_OK;
    }
    const tapml_status status = queue_blit(device, call, &encoder);

    if (status != TAPML_OK) {
        return status;
    }
    id<MTLBuffer> staging = [device->device newBufferWithBytes:source
                                                        length:(NSUInteger)size
                                                       options:MTLResourceStorageModeShared];
    if (staging == nil) {
        return no_memory(device, call);
    }
    [encoder copyFromBuffer:staging
               sourceOffset:0
                   toBuffer:buffer->memory
          destinationOffset:(NSUInteger)offset
                       size:(NSUInteger)size];
    [staging release]; // The batch keeps it as long as it is needed.
    return TAPML_OK;
}

tapml_status memory_read(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *buffer,
                         uint64_t offset,
                         void *target,
                         uint64_t size)
{
    id<MTLBlitCommandEncoder> encoder = nil;

    if (size == 0 || is_idle(device)) {
        memcpy(target, (const char *)[buffer->memory contents] + offset, (size_t)size);
        return TAPML_OK;
    }
    const tapml_status status = queue_blit(device, call, &encoder);

    if (status != TAPML_OK) {
        return status;
    }
    id<MTLBuffer> staging = [device->device newBufferWithLength:(NSUInteger)size
                                                        options:MTLResourceStorageModeShared];
    if (staging == nil) {
        return no_memory(device, call);
    }
    [encoder copyFromBuffer:buffer->memory
               sourceOffset:(NSUInteger)offset
                   toBuffer:staging
          destinationOffset:0
                       size:(NSUInteger)size];
    queue_note_read(device, staging, target, (size_t)size);
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
    id<MTLBlitCommandEncoder> encoder = nil;
    const tapml_status status = size != 0 ? queue_blit(device, call, &encoder) : TAPML_OK;

    if (status == TAPML_OK && size != 0) {
        [encoder copyFromBuffer:source->memory
                   sourceOffset:(NSUInteger)source_offset
                       toBuffer:target->memory
              destinationOffset:(NSUInteger)target_offset
                           size:(NSUInteger)size];
    }
    return status;
}
