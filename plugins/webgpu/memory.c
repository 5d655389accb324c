// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <stdio.h>

tapml_status memory_new(struct driver_device *device,
                        tapml_call *call,
                        uint64_t size,
                        struct driver_buffer **out_buffer)
{
    struct driver_root *root = device->root;
    const uint64_t most = root->answers.limits.buffer_bytes;
    char what[64];

    if (size > most) {
        return gpu_fail(root->host, call, TAPML_NO_MEMORY, 0,
                        "a buffer of %llu bytes; the page's device binds at most %llu",
                        (unsigned long long)size, (unsigned long long)most);
    }
    struct driver_buffer *buffer = gpu_alloc(root->host, sizeof(*buffer));

    if (buffer == NULL) {
        return gpu_fail(root->host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    buffer->id = ++root->last_id;
    tapml_status status = driver_begin(root, call, DRIVER_BUFFER_NEW, 12);

    if (status == TAPML_OK) {
        wire_put_u32(&root->frames, buffer->id);
        wire_put_u64(&root->frames, size);
        wire_end(&root->frames);
        (void)snprintf(what, sizeof(what), "a buffer of %llu bytes", (unsigned long long)size);
        status = driver_make(root, call, TAPML_NO_MEMORY, what);
    }
    if (status != TAPML_OK) {
        gpu_free(root->host, buffer, sizeof(*buffer));
        return status;
    }
    *out_buffer = buffer;
    return TAPML_OK;
}

void memory_free(struct driver_device *device, struct driver_buffer *buffer)
{
    struct driver_root *root = device->root;

    // A failure is not reported: a page that has gone holds nothing.
    if (driver_begin(root, NULL, DRIVER_BUFFER_FREE, 4) == TAPML_OK) {
        wire_put_u32(&root->frames, buffer->id);
        wire_end(&root->frames);
    }
    gpu_free(root->host, buffer, sizeof(*buffer));
}

tapml_status memory_write(struct driver_device *device,
                          tapml_call *call,
                          struct driver_buffer *buffer,
                          uint64_t offset,
                          const void *source,
                          uint64_t size)
{
    struct driver_root *root = device->root;
    tapml_status status = TAPML_OK;

    for (uint64_t done = 0; done < size && status == TAPML_OK; done += DRIVER_PART_BYTES) {
        const uint64_t left = size - done;
        const size_t part = left < DRIVER_PART_BYTES ? (size_t)left : DRIVER_PART_BYTES;

        status = driver_begin(root, call, DRIVER_WRITE, 12 + part);
        if (status == TAPML_OK) {
            wire_put_u32(&root->frames, buffer->id);
            wire_put_u64(&root->frames, offset + done);
            wire_put_bytes(&root->frames, (const char *)source + done, part);
            wire_end(&root->frames);
        }
    }
    return status;
}

// Waits where as many reads are under way as can be kept.
static tapml_status make_room(struct driver_root *root, tapml_call *call)
{
    tapml_status status = TAPML_OK;

    if (root->answers.count == ANSWERS_READ_MAX) {
        status = driver_flush(root, call);
    }
    while (status == TAPML_OK && root->answers.count == ANSWERS_READ_MAX) {
        status = driver_serve(root, call, UINT64_C(1000000000));
    }
    return status;
}

tapml_status memory_read(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *buffer,
                         uint64_t offset,
                         void *target,
                         uint64_t size)
{
    struct driver_root *root = device->root;
    tapml_status status = TAPML_OK;

    for (uint64_t done = 0; done < size && status == TAPML_OK; done += DRIVER_PART_BYTES) {
        const uint64_t left = size - done;
        const uint32_t part = left < DRIVER_PART_BYTES ? (uint32_t)left : DRIVER_PART_BYTES;

        status = make_room(root, call);
        if (status == TAPML_OK) {
            status = driver_begin(root, call, DRIVER_READ, 16);
        }
        if (status == TAPML_OK) {
            wire_put_u32(&root->frames, buffer->id);
            wire_put_u64(&root->frames, offset + done);
            wire_put_u32(&root->frames, part);
            wire_end(&root->frames);
            answers_expect(&root->answers,
                           &(struct answers_read){root->number, part, (char *)target + done});
        }
    }
    return status;
}

tapml_status memory_copy(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *source,
                         uint64_t source_offset,
                         struct driver_buffer *target,
                         uint64_t target_offset,
                         uint64_t size)
{
    struct driver_root *root = device->root;
    const tapml_status status = driver_begin(root, call, DRIVER_COPY, 32);

    if (status == TAPML_OK) {
        wire_put_u32(&root->frames, source->id);
        wire_put_u64(&root->frames, source_offset);
        wire_put_u32(&root->frames, target->id);
        wire_put_u64(&root->frames, target_offset);
        wire_put_u64(&root->frames, size);
        wire_end(&root->frames);
    }
    return status;
}
