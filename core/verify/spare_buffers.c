// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/spare_buffers.h"

#include "base/alloc.h"
#include "base/assert.h"

// Frees buffers that are not used, the oldest first, until all take at most `bytes_max`.
static void shrink(struct spare_buffers *spare, uint64_t bytes_max)
{
    size_t kept = 0;
    for (size_t i = 0; i < spare->count; i++) {
        const struct spare_buffer *item = &spare->items[i];
        if (item->is_used || item->holds > 0 || spare->bytes <= bytes_max) {
            spare->items[kept++] = *item;
        } else {
            spare->bytes -= item->size;
            backend_buffer_free(spare->backend, item->buffer);
        }
    }
    spare->count = kept;
}

static tapml_status add(struct spare_buffers *spare, uint64_t size, tapml_object **out_buffer)
{
    void *grown = spare->items;
    tapml_object *buffer = NULL;
    const uint64_t bytes_max = size < SPARE_BUFFERS_BYTES_MAX ? SPARE_BUFFERS_BYTES_MAX - size : 0;
    if (spare->is_pending && spare->bytes > bytes_max) {
        TAPML_TRY(backend_wait(spare->backend));
    }
    shrink(spare, bytes_max);
    if (!alloc_grow(&grown, &spare->capacity, spare->count, sizeof(*spare->items))) {
        return status_no_memory();
    }
    spare->items = grown;
    TAPML_TRY(backend_buffer_new(spare->backend, size, &buffer));
    spare->items[spare->count++] =
        (struct spare_buffer){.buffer = buffer, .size = size, .is_used = 1};
    spare->bytes += size;
    *out_buffer = buffer;
    return TAPML_OK;
}

tapml_status
spare_buffers_take(struct spare_buffers *spare, uint64_t size, tapml_object **out_buffer)
{
    for (size_t i = 0; i < spare->count; i++) {
        struct spare_buffer *item = &spare->items[i];
        if (!item->is_used && item->size == size) {
            item->is_used = 1;
            *out_buffer = item->buffer;
            return TAPML_OK;
        }
    }
    return add(spare, size, out_buffer);
}

void spare_buffers_leave(struct spare_buffers *spare)
{
    for (size_t i = 0; i < spare->count; i++) {
        spare->items[i].is_used = 0;
    }
    spare->is_pending = 1;
}

static struct spare_buffer *find(struct spare_buffers *spare, const tapml_object *buffer)
{
    size_t i = 0;
    while (spare->items[i].buffer != buffer) {
        i++;
        ASSERT(i < spare->count); // It was taken here, and is held.
    }
    return &spare->items[i];
}

void spare_buffers_hold(struct spare_buffers *spare, const tapml_object *buffer)
{
    find(spare, buffer)->holds++;
}

void spare_buffers_let_go(struct spare_buffers *spare, const tapml_object *buffer)
{
    struct spare_buffer *item = find(spare, buffer);
    ASSERT(item->holds > 0);
    item->holds--;
}

static void release_all(struct spare_buffers *spare, uint64_t bytes_max)
{
    spare_buffers_leave(spare);
    spare->is_pending = 0;
    shrink(spare, bytes_max);
}

void spare_buffers_end(struct spare_buffers *spare)
{
    release_all(spare, SPARE_BUFFERS_BYTES_MAX);
}

void spare_buffers_release(struct spare_buffers *spare)
{
    release_all(spare, 0);
    ASSERT(spare->count == 0); // None is held.
    alloc_free(spare->items);
    *spare = (struct spare_buffers){.backend = spare->backend};
}
