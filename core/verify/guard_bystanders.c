// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/guard_bystanders.h"

#include "base/assert.h"

enum { READ_BYTES_MAX = 1 << 18 };

void guard_bystanders_release(struct guard_bystanders *bystanders)
{
    room_release(&bystanders->room);
}

void guard_bystanders_add(struct guard_bystanders *bystanders, struct guard_buffer *buffer)
{
    buffer->older = bystanders->newest;
    buffer->newer = NULL;
    if (buffer->older) {
        buffer->older->newer = buffer;
    }
    bystanders->newest = buffer;
}

void guard_bystanders_remove(struct guard_bystanders *bystanders, struct guard_buffer *buffer)
{
    if (buffer->older) {
        buffer->older->newer = buffer->newer;
    }
    if (buffer->newer) {
        buffer->newer->older = buffer->older;
    } else {
        ASSERT(bystanders->newest == buffer);
        bystanders->newest = buffer->older;
    }
}

void guard_bystanders_forget(struct guard_buffer *buffer)
{
    buffer->seen_epoch = 0;
}

void guard_bystanders_forget_all(struct guard_bystanders *bystanders)
{
    bystanders->epoch++;
}

// Epochs count from 0, and a new buffer has seen none.
static uint64_t epoch_now(const struct guard_bystanders *bystanders)
{
    return bystanders->epoch + 1;
}

static void
learn(const struct guard_bystanders *bystanders, struct guard_buffer *buffer, const void *image)
{
    buffer->seen = hash_bytes(image, guard_buffer_readable_bytes(buffer));
    buffer->seen_epoch = epoch_now(bystanders);
}

// The buffers of the call itself. Large weights have no image, and large buffers are never read.
static void learn_own(const struct guard_bystanders *bystanders, const struct guarded_call *guarded)
{
    for (uint32_t i = 0; i < guarded->watch_count; i++) {
        const struct guarded_watch *watch = &guarded->watches[i];
        if (watch->after && guard_buffer_readable_bytes(watch->buffer) <= READ_BYTES_MAX) {
            learn(bystanders, watch->buffer, watch->after);
        } else {
            guard_bystanders_forget(watch->buffer);
        }
    }
}

static const struct guarded_use *first_output(const struct guarded_call *guarded)
{
    for (uint32_t i = 0; i < guarded->use_count; i++) {
        const struct guarded_use *use = &guarded->uses[i];
        if (guarded_call_is_output(guarded_call_param(guarded, use))) {
            return use;
        }
    }
    return NULL;
}

// Adds a buffer that is not the call's, unless there is no room for it.
static void choose(struct guard_bystanders *bystanders,
                   const struct guarded_call *guarded,
                   struct guard_buffer *buffer)
{
    struct guard_bystanders_reading *reading = &bystanders->reading;
    const uint64_t bytes = guard_buffer_readable_bytes(buffer);
    const int is_wanted = !bystanders->is_forgetful || buffer->seen_epoch == epoch_now(bystanders);
    if (is_wanted && buffer->redzone > 0 && reading->count < GUARD_BYSTANDERS_MAX &&
        bytes <= READ_BYTES_MAX - reading->bytes && !guarded_call_find_watch(guarded, buffer)) {
        reading->buffers[reading->count++] = buffer;
        reading->bytes += bytes;
    }
}

// From a buffer to both sides, as long as there is room for some.
static void choose_nearest(struct guard_bystanders *bystanders,
                           const struct guarded_call *guarded,
                           const struct guard_buffer *middle)
{
    enum { STEPS_MAX = 4 * GUARD_BYSTANDERS_MAX };
    struct guard_buffer *older = middle->older, *newer = middle->newer;
    for (uint32_t step = 0; step < STEPS_MAX && (older || newer); step++) {
        if (older) {
            choose(bystanders, guarded, older);
            older = older->older;
        }
        if (newer) {
            choose(bystanders, guarded, newer);
            newer = newer->newer;
        }
    }
}

// Forgets all where contents of memory have gone since the last time; whether they have.
static int forget_lost(struct guard_bystanders *bystanders, const struct backend *inner)
{
    const uint64_t generation = backend_generation(inner);
    if (generation == bystanders->generation) {
        return 0;
    }
    bystanders->generation = generation;
    guard_bystanders_forget_all(bystanders);
    return 1;
}

tapml_status guard_bystanders_read(struct guard_bystanders *bystanders,
                                   struct backend *inner,
                                   const struct guarded_call *guarded)
{
    struct guard_bystanders_reading *reading = &bystanders->reading;
    const struct guarded_use *use = first_output(guarded);
    void *images = NULL;
    *reading = (struct guard_bystanders_reading){.count = 0};
    (void)forget_lost(bystanders, inner);
    if (use) {
        choose_nearest(bystanders, guarded, use->buffer);
    }
    if (reading->count == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(room_need(&bystanders->room, reading->bytes, &images));
    unsigned char *next = reading->images = images;
    for (uint32_t i = 0; i < reading->count; i++) {
        const uint64_t bytes = guard_buffer_readable_bytes(reading->buffers[i]);
        TAPML_TRY(backend_read(inner, reading->buffers[i]->inner, 0, next, bytes));
        next += bytes;
    }
    return TAPML_OK;
}

void guard_bystanders_check(struct guard_bystanders *bystanders,
                            const struct backend *inner,
                            const struct guarded_call *guarded,
                            struct guard_violation *out_violation)
{
    const struct guard_bystanders_reading *reading = &bystanders->reading;
    const unsigned char *image = reading->images;
    if (forget_lost(bystanders, inner)) {
        return;
    }
    if (!bystanders->is_forgetful) {
        learn_own(bystanders, guarded);
    }
    for (uint32_t i = 0; i < reading->count; i++) {
        struct guard_buffer *buffer = reading->buffers[i];
        const struct hash before = buffer->seen;
        const int was_seen = buffer->seen_epoch == epoch_now(bystanders);
        learn(bystanders, buffer, image);
        if (was_seen && !hash_equal(before, buffer->seen) && out_violation->kind == GUARD_CLEAN) {
            guard_violation_elsewhere(out_violation, guarded, first_output(guarded), buffer);
        }
        image += guard_buffer_readable_bytes(buffer);
    }
}
