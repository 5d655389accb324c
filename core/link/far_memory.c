// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/far_memory.h"

#include "base/assert.h"

#include <string.h>

enum {
    STAGED_BYTES_MAX = 1 << 26, // Then the near side waits, so that staging does not grow for ever.
    SHARED_BYTES_MIN = 1 << 12, // Fewer are copied, so that nothing waits until they are read.
};

// Where nothing was queued, nothing is lost with a far side that ends: it is asked once more.
static tapml_status put_new_buffer(struct far_side *far, struct buffer *buffer)
{
    const int was_busy = far->is_busy;
    tapml_status status = far_side_put_buffer(far, buffer);
    if (!far->is_up && !was_busy) {
        TAPML_TRY(far_side_ready(far));
        status = far_side_put_buffer(far, buffer);
    }
    buffer->is_made = status == TAPML_OK;
    return status;
}

static void drop_buffer(struct far_side *far, struct buffer *buffer)
{
    if (buffer->span.memory && !buffer->is_shared) {
        shared_give_back(far->shared, &buffer->span);
    }
    buffer_remove(&far->buffers, buffer);
}

// A buffer like `wanted`.
static tapml_status
make_buffer(struct far_side *far, const struct buffer *wanted, tapml_object **out_buffer)
{
    const uint64_t size = wanted->bytes;
    struct buffer *buffer = NULL;
    TAPML_TRY(far_side_ready(far));
    if (far->info.buffer_bytes_max > 0 && size > far->info.buffer_bytes_max) {
        return status_fail(TAPML_NO_MEMORY, "%s: a buffer of %llu bytes, at most %llu are possible",
                           far->info.component, (unsigned long long)size,
                           (unsigned long long)far->info.buffer_bytes_max);
    }
    TAPML_TRY(buffer_add(&far->buffers, wanted, &buffer));
    tapml_status status = TAPML_OK;
    if (far->is_wrapping && !buffer->is_shared) {
        status = shared_take(far->shared, size, &buffer->span);
    }
    if (status == TAPML_OK) {
        status = put_new_buffer(far, buffer);
    }
    if (status != TAPML_OK) {
        drop_buffer(far, buffer);
        return status;
    }
    *out_buffer = &buffer->object;
    return TAPML_OK;
}

tapml_status far_memory_new(struct far_side *far, uint64_t size, tapml_object **out_buffer)
{
    return make_buffer(far, &(struct buffer){.bytes = size}, out_buffer);
}

// The place of memory in a share. Returns 0 if it lies in none.
static int find_shared(const struct far_side *far,
                       const void *memory,
                       uint64_t bytes,
                       struct shared_span *out_span)
{
    const struct share *share = share_find(&far->shares, memory, bytes);
    if (!share) {
        return 0;
    }
    *out_span = (struct shared_span){
        .region = (uint32_t)(share - far->shares.shares) | MESSAGE_IS_IMPORT,
        .offset = (uintptr_t)memory - (uintptr_t)share->given.memory,
        .bytes = bytes,
        .memory = (unsigned char *)(uintptr_t)memory, // Only read: the façade sees to it.
    };
    return 1;
}

tapml_status far_memory_wrap(
    struct far_side *far, void *memory, uint64_t size, uint32_t access, tapml_object **out_buffer)
{
    struct buffer wanted = {.bytes = size, .is_shared = 1};
    if (!far->is_wrapping || access != TAPML_ACCESS_READ ||
        !find_shared(far, memory, size, &wanted.span)) {
        return status_fail(TAPML_UNIMPLEMENTED,
                           "%s: a worker cannot use memory of the host that is not shared with it",
                           far->info.component);
    }
    return make_buffer(far, &wanted, out_buffer);
}

void far_memory_unshare(struct far_side *far, const void *memory)
{
    struct share *share = share_remove(&far->shares, memory);
    if (share && share->is_sent && far->is_up) {
        far_side_begin(far, MESSAGE_UNSHARE);
        wire_put_u32(&far->log, (uint32_t)(share - far->shares.shares));
        (void)far_side_end(far); // Where it has ended, its mapping is gone too.
    }
    if (share) {
        *share = (struct share){0};
    }
}

void far_memory_free(struct far_side *far, tapml_object *object)
{
    struct buffer *buffer = buffer_of(object);
    if (far->is_up) {
        far_side_begin(far, MESSAGE_BUFFER_FREE);
        wire_put_u32(&far->log, buffer->number);
        (void)far_side_end(far); // Where it has ended, the buffer is gone too.
    }
    drop_buffer(far, buffer);
}

// Whether a transfer needs no message: both sides see the memory, and no work uses it.
static int is_direct(const struct far_side *far, const struct buffer *buffer)
{
    return buffer->span.memory && !far->is_busy;
}

static tapml_status stage(struct far_side *far, uint64_t size, struct shared_span *out_span)
{
    if (far->staging.bytes + size > STAGED_BYTES_MAX && far->is_busy) {
        TAPML_TRY(far_side_settle(far));
        TAPML_TRY(far_side_ready(far));
    }
    TAPML_TRY(staging_take(&far->staging, far->shared, size, out_span));
    return far_side_announce_regions(far);
}

static tapml_status put_transfer(struct far_side *far,
                                 enum message_verb verb,
                                 const struct buffer *buffer,
                                 uint64_t offset,
                                 const struct shared_span *span)
{
    far_side_begin(far, verb);
    wire_put_u32(&far->log, buffer->number);
    wire_put_u64(&far->log, offset);
    wire_put_u64(&far->log, span->bytes);
    wire_put_u32(&far->log, span->region);
    wire_put_u64(&far->log, span->offset);
    far_side_note_work(far);
    return far_side_end(far);
}

tapml_status far_memory_write(
    struct far_side *far, tapml_object *object, uint64_t offset, const void *source, uint64_t size)
{
    struct buffer *buffer = buffer_of(object);
    struct shared_span span = {0};
    TAPML_TRY(far_side_make_room(far));
    if (size == 0) {
        return TAPML_OK;
    }
    ASSERT(offset <= buffer->bytes && size <= buffer->bytes - offset); // The façade has checked.
    if (is_direct(far, buffer)) {
        memcpy(buffer->span.memory + offset, source, size);
        return TAPML_OK;
    }
    if (size >= SHARED_BYTES_MIN && find_shared(far, source, size, &span)) {
        TAPML_TRY(far_side_announce_share(far, far_side_share(far, &span)));
        far->is_pending = 1; // Until it is read, the source stays as it is.
        return put_transfer(far, MESSAGE_WRITE, buffer, offset, &span);
    }
    TAPML_TRY(stage(far, size, &span));
    ASSERT(span.memory);
    memcpy(span.memory, source, size);
    return put_transfer(far, MESSAGE_WRITE, buffer, offset, &span);
}

tapml_status far_memory_read(
    struct far_side *far, tapml_object *object, uint64_t offset, void *target, uint64_t size)
{
    struct buffer *buffer = buffer_of(object);
    struct shared_span span = {0};
    TAPML_TRY(far_side_make_room(far));
    if (size == 0) {
        return TAPML_OK;
    }
    ASSERT(offset <= buffer->bytes && size <= buffer->bytes - offset);
    if (is_direct(far, buffer)) {
        memcpy(target, buffer->span.memory + offset, size);
        return TAPML_OK;
    }
    TAPML_TRY(stage(far, size, &span));
    TAPML_TRY(staging_add_read(
        &far->staging, &(struct staged_read){far->signalled + 1, target, span.memory, size}));
    far->is_pending = 1;
    return put_transfer(far, MESSAGE_READ, buffer, offset, &span);
}

tapml_status far_memory_fill(
    struct far_side *far, tapml_object *object, uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct buffer *buffer = buffer_of(object);
    TAPML_TRY(far_side_make_room(far));
    ASSERT(offset <= buffer->bytes && size <= buffer->bytes - offset);
    if (is_direct(far, buffer)) {
        for (uint64_t at = 0; at < size; at += sizeof(pattern)) {
            memcpy(buffer->span.memory + offset + at, &pattern, sizeof(pattern));
        }
        return TAPML_OK;
    }
    far_side_begin(far, MESSAGE_FILL);
    wire_put_u32(&far->log, buffer->number);
    wire_put_u64(&far->log, offset);
    wire_put_u64(&far->log, size);
    wire_put_u32(&far->log, pattern);
    far_side_note_work(far);
    return far_side_end(far);
}

tapml_status far_memory_copy(struct far_side *far, const struct backend_copy *copy)
{
    const struct buffer *source = buffer_of(copy->source);
    const struct buffer *target = buffer_of(copy->target);
    TAPML_TRY(far_side_make_room(far));
    if (is_direct(far, source) && is_direct(far, target)) {
        memmove(target->span.memory + copy->target_offset,
                source->span.memory + copy->source_offset, copy->size);
        return TAPML_OK;
    }
    far_side_begin(far, MESSAGE_COPY);
    wire_put_u32(&far->log, source->number);
    wire_put_u64(&far->log, copy->source_offset);
    wire_put_u64(&far->log, copy->size);
    wire_put_u32(&far->log, target->number);
    wire_put_u64(&far->log, copy->target_offset);
    far_side_note_work(far);
    return far_side_end(far);
}

tapml_status far_memory_stamp(struct far_side *far, uint64_t *out_ns)
{
    struct shared_span span = {0};
    if (far->given.channel->lacks_stamps) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: it queues no stamp of time",
                           far->info.component);
    }
    TAPML_TRY(far_side_make_room(far));
    TAPML_TRY(stage(far, sizeof(*out_ns), &span));
    TAPML_TRY(staging_add_read(&far->staging, &(struct staged_read){far->signalled + 1, out_ns,
                                                                    span.memory, sizeof(*out_ns)}));
    far->is_pending = 1;
    far_side_begin(far, MESSAGE_STAMP);
    wire_put_u32(&far->log, span.region);
    wire_put_u64(&far->log, span.offset);
    far_side_note_work(far);
    return far_side_end(far);
}
