// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/plain.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>

struct plain {
    struct backend backend;
    uint64_t waits;
};

struct plain_buffer {
    tapml_object object;
    unsigned char *memory;
    uint64_t size;
    void *own; // To be freed.
};

static struct plain_buffer *range(tapml_object *object, uint64_t offset, uint64_t size)
{
    struct plain_buffer *buffer = (struct plain_buffer *)object;
    ASSERT(offset <= buffer->size && size <= buffer->size - offset);
    return buffer;
}

static const struct backend_info *plain_info(const struct backend *backend)
{
    static const struct backend_info info = {
        .component = "plain",
        .plugin = "org.example.plain",
        .plugin_version = "1",
        .device = "plain",
        .device_name = "Plain memory",
        .driver = "",
        .is_host_memory = 1,
        .takes = ENCODING_TAKES_TILES,
    };
    return &info;
}

static int plain_has_op(struct backend *backend, const tapml_op *op)
{
    return 0;
}

static tapml_status plain_supports(struct backend *backend,
                                   const struct compiled_op *schema,
                                   const tapml_value *args,
                                   tapml_support *answer)
{
    *answer = (tapml_support){.hdr = TAPML_HDR(tapml_support), .grade = TAPML_SUPPORT_NO};
    return TAPML_OK;
}

static tapml_status plain_wrap(struct backend *backend,
                               void *memory,
                               uint64_t size,
                               uint32_t access,
                               tapml_object **out_buffer)
{
    struct plain_buffer *buffer = alloc_new(sizeof(*buffer));
    if (!buffer) {
        return status_no_memory();
    }
    buffer->memory = memory;
    buffer->size = size;
    *out_buffer = &buffer->object;
    return TAPML_OK;
}

static tapml_status plain_new(struct backend *backend, uint64_t size, tapml_object **out_buffer)
{
    void *memory = alloc_new(size);
    if (!memory) {
        return status_no_memory();
    }
    const tapml_status status = plain_wrap(backend, memory, size, TAPML_ACCESS_WRITE, out_buffer);
    if (status != TAPML_OK) {
        alloc_free(memory);
        return status;
    }
    ((struct plain_buffer *)*out_buffer)->own = memory;
    return TAPML_OK;
}

static void plain_free(struct backend *backend, tapml_object *object)
{
    alloc_free(((struct plain_buffer *)object)->own);
    alloc_free(object);
}

static tapml_status plain_write(struct backend *backend,
                                tapml_object *buffer,
                                uint64_t offset,
                                const void *source,
                                uint64_t size)
{
    memmove(range(buffer, offset, size)->memory + offset, source, size);
    return TAPML_OK;
}

static tapml_status plain_read(
    struct backend *backend, tapml_object *buffer, uint64_t offset, void *target, uint64_t size)
{
    memmove(target, range(buffer, offset, size)->memory + offset, size);
    return TAPML_OK;
}

static tapml_status plain_fill(
    struct backend *backend, tapml_object *object, uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct plain_buffer *buffer = range(object, offset, size);
    for (uint64_t at = 0; at < size; at += sizeof(pattern)) {
        const uint64_t left = size - at;
        memcpy(buffer->memory + offset + at, &pattern,
               left < sizeof(pattern) ? left : sizeof(pattern));
    }
    return TAPML_OK;
}

static tapml_status plain_copy(struct backend *backend, const struct backend_copy *copy)
{
    memcpy(range(copy->target, copy->target_offset, copy->size)->memory + copy->target_offset,
           range(copy->source, copy->source_offset, copy->size)->memory + copy->source_offset,
           copy->size);
    return TAPML_OK;
}

static tapml_status plain_call(struct backend *backend, const struct backend_call *call)
{
    return status_fail(TAPML_UNIMPLEMENTED, "it has no ops");
}

static tapml_status plain_flush(struct backend *backend)
{
    return TAPML_OK;
}

static tapml_status plain_wait(struct backend *backend)
{
    ((struct plain *)backend)->waits++;
    return TAPML_OK;
}

static tapml_status plain_signal(struct backend *backend, struct backend_point *out_point)
{
    *out_point = (struct backend_point){.owner = backend};
    return TAPML_OK;
}

static tapml_status plain_wait_for(struct backend *backend, struct backend_point point)
{
    ASSERT(point.owner == backend);
    return TAPML_OK;
}

static uint64_t plain_launches(struct backend *backend)
{
    return 0;
}

static const char *plain_identity(struct backend *backend, const tapml_op *op)
{
    return "plain";
}

static uint64_t plain_generation(const struct backend *backend)
{
    return 0;
}

static void plain_release(struct backend *backend)
{
    alloc_free(backend);
}

struct backend *plain_create(void)
{
    static const struct backend_vt vt = {
        .release = plain_release,
        .info = plain_info,
        .has_op = plain_has_op,
        .supports = plain_supports,
        .buffer_new = plain_new,
        .buffer_wrap = plain_wrap,
        .buffer_free = plain_free,
        .write = plain_write,
        .read = plain_read,
        .fill = plain_fill,
        .copy = plain_copy,
        .call = plain_call,
        .flush = plain_flush,
        .wait = plain_wait,
        .signal = plain_signal,
        .wait_for = plain_wait_for,
        .launches = plain_launches,
        .identity = plain_identity,
        .generation = plain_generation,
    };
    struct plain *plain = alloc_new(sizeof(*plain));
    ASSERT(plain);
    plain->backend.vt = &vt;
    return &plain->backend;
}

void *plain_bytes(const tapml_object *buffer)
{
    return ((const struct plain_buffer *)buffer)->memory;
}

uint64_t plain_waits(const struct backend *backend)
{
    return ((const struct plain *)backend)->waits;
}
