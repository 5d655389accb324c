// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include "device.h"

#include <string.h>

enum { PIECE_BYTES = 64 << 10 };

void memory_forget(struct object *buffer)
{
    const struct library *ggml = &buffer->root->library;

    while (buffer->packed != NULL) {
        struct packed *packed = buffer->packed;

        buffer->packed = packed->next;
        ggml->backend_buffer_free(packed->memory);
        buffer->core->free(buffer->host, packed, sizeof(*packed), sizeof(void *));
    }
}

static void buffer_end(struct object *buffer)
{
    memory_forget(buffer);
    if (buffer->memory != NULL) {
        buffer->root->library.backend_buffer_free(buffer->memory);
    }
}

struct ggml_tensor memory_bytes(const struct library *ggml,
                                ggml_backend_buffer_t memory,
                                uint64_t offset,
                                uint64_t bytes)
{
    return (struct ggml_tensor){
        .type = GGML_TYPE_I8,
        .buffer = memory,
        .ne = {(int64_t)bytes, 1, 1, 1},
        .nb = {1, bytes, bytes, bytes},
        .data = (char *)ggml->backend_buffer_get_base(memory) + offset,
    };
}

tapml_status memory_new(tapml_object *device,
                        tapml_call *call,
                        uint32_t memory_type,
                        uint64_t size,
                        tapml_object **out_buffer)
{
    struct device *own = object_of(device)->device;
    const struct library *ggml = &own->object.root->library;
    tapml_object *made = NULL;
    tapml_status status = object_new(&own->object, call, sizeof(struct object), &made);

    if (status != TAPML_OK) {
        return status;
    }
    struct object *buffer = object_of(made);

    buffer->end = buffer_end;
    if (size <= own->kind->memory.max_bytes) {
        buffer->memory =
            ggml->backend_buft_alloc_buffer(own->memory_type, size + MEMORY_SLACK_BYTES);
    }
    if (buffer->memory == NULL) {
        made->vt->release(made);
        return object_fail(&own->object, call, TAPML_NO_MEMORY, "%s has no %llu bytes",
                           own->kind->id, (unsigned long long)size);
    }
    *out_buffer = made;
    return TAPML_OK;
}

tapml_status memory_write(tapml_object *queue,
                          tapml_call *call,
                          tapml_object *buffer,
                          uint64_t offset,
                          const void *source,
                          uint64_t size)
{
    struct object *own = object_of(buffer);
    const struct library *ggml = &own->root->library;
    struct ggml_tensor bytes = memory_bytes(ggml, own->memory, offset, size);

    memory_forget(own);
    ggml->backend_tensor_set(&bytes, source, 0, (size_t)size);
    return TAPML_OK;
}

tapml_status memory_read(tapml_object *queue,
                         tapml_call *call,
                         tapml_object *buffer,
                         uint64_t offset,
                         void *target,
                         uint64_t size)
{
    const struct object *own = object_of(buffer);
    const struct library *ggml = &own->root->library;
    const struct ggml_tensor bytes = memory_bytes(ggml, own->memory, offset, size);

    ggml->backend_tensor_get(&bytes, target, 0, (size_t)size);
    return TAPML_OK;
}

// By way of the host, whole, since both may be parts of one buffer.
tapml_status memory_copy(tapml_object *queue,
                         tapml_call *call,
                         tapml_object *source,
                         uint64_t source_offset,
                         tapml_object *target,
                         uint64_t target_offset,
                         uint64_t size)
{
    const struct object *own = object_of(queue);
    void *bytes = own->core->alloc(own->host, (size_t)size, sizeof(uint64_t));

    if (bytes == NULL) {
        return object_fail(own, call, TAPML_NO_MEMORY, "out of memory");
    }
    (void)memory_read(queue, call, source, source_offset, bytes, size);
    (void)memory_write(queue, call, target, target_offset, bytes, size);
    own->core->free(own->host, bytes, (size_t)size, sizeof(uint64_t));
    return TAPML_OK;
}

tapml_status memory_fill(tapml_object *queue,
                         tapml_call *call,
                         tapml_object *buffer,
                         uint64_t offset,
                         uint64_t size,
                         uint32_t pattern)
{
    uint32_t piece[PIECE_BYTES / sizeof(uint32_t)];

    for (size_t i = 0; i < PIECE_BYTES / sizeof(*piece); i++) {
        piece[i] = pattern;
    }
    for (uint64_t done = 0; done < size; done += PIECE_BYTES) {
        const uint64_t rest = size - done;

        (void)memory_write(queue, call, buffer, offset + done, piece,
                           rest < PIECE_BYTES ? rest : PIECE_BYTES);
    }
    return TAPML_OK;
}
