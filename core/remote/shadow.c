// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/shadow.h"

#include "base/alloc.h"
#include "link/message.h"

#include <string.h>

static void forget(struct shadow *shadow, struct shadow_buffer *buffer)
{
    shadow->bytes -= buffer->size;
    alloc_free(buffer->bytes);
    *buffer = (struct shadow_buffer){.bytes = NULL};
}

void shadow_release(struct shadow *shadow)
{
    for (size_t i = 0; i < shadow->count; i++) {
        forget(shadow, &shadow->buffers[i]);
    }
    alloc_free(shadow->buffers);
    *shadow = (struct shadow){.buffers = NULL};
}

static struct shadow_buffer *buffer_of(const struct shadow *shadow, uint32_t number)
{
    return number < shadow->count && shadow->buffers[number].bytes != NULL
               ? &shadow->buffers[number]
               : NULL;
}

// The place of a new buffer; NULL without memory.
static struct shadow_buffer *claim(struct shadow *shadow, uint32_t number)
{
    while (shadow->count <= number) {
        void *buffers = shadow->buffers;

        if (!alloc_grow(&buffers, &shadow->capacity, shadow->count, sizeof(*shadow->buffers))) {
            return NULL;
        }
        shadow->buffers = buffers;
        shadow->buffers[shadow->count++] = (struct shadow_buffer){.bytes = NULL};
    }
    forget(shadow, &shadow->buffers[number]);
    return &shadow->buffers[number];
}

static void add(struct shadow *shadow, uint32_t number, uint64_t size)
{
    struct shadow_buffer *buffer = claim(shadow, number);

    if (buffer == NULL || size > SHADOW_BUFFER_BYTES_MAX ||
        size > SHADOW_BYTES_MAX - shadow->bytes) {
        return;
    }
    buffer->bytes = alloc_new(size);
    buffer->size = buffer->bytes != NULL ? size : 0;
    shadow->bytes += buffer->size;
}

static void drop(struct shadow *shadow, uint32_t number)
{
    if (buffer_of(shadow, number) != NULL) {
        forget(shadow, &shadow->buffers[number]);
    }
}

// A part of a buffer that has a shadow; NULL for any other.
static unsigned char *find(const struct shadow *shadow, const struct shadow_part *part)
{
    const struct shadow_buffer *buffer = buffer_of(shadow, part->buffer);

    return buffer != NULL && part->offset <= buffer->size &&
                   part->bytes <= buffer->size - part->offset
               ? buffer->bytes + part->offset
               : NULL;
}

static unsigned char *change(struct shadow *shadow, const struct shadow_part *part)
{
    unsigned char *bytes = find(shadow, part);

    if (bytes != NULL) {
        shadow->buffers[part->buffer].changes++;
    }
    return bytes;
}

static void
follow_write(struct shadow *shadow, const struct mirror *mirror, struct wire_reader *reader)
{
    struct shadow_part part = {.buffer = wire_take_u32(reader)};

    part.offset = wire_take_u64(reader);
    part.bytes = wire_take_u64(reader);
    const uint32_t number = wire_take_u32(reader);
    const uint64_t offset = wire_take_u64(reader);
    const unsigned char *source = mirror_span(mirror, number, offset, part.bytes);
    unsigned char *bytes = change(shadow, &part);

    if (bytes != NULL && source != NULL) {
        memcpy(bytes, source, part.bytes);
    }
}

static void follow_fill(struct shadow *shadow, struct wire_reader *reader)
{
    struct shadow_part part = {.buffer = wire_take_u32(reader)};

    part.offset = wire_take_u64(reader);
    part.bytes = wire_take_u64(reader);
    const uint32_t pattern = wire_take_u32(reader);
    unsigned char *bytes = change(shadow, &part);

    for (uint64_t at = 0; bytes != NULL && at < part.bytes; at += sizeof(pattern)) {
        const uint64_t rest = part.bytes - at;

        memcpy(bytes + at, &pattern, rest < sizeof(pattern) ? rest : sizeof(pattern));
    }
}

static void follow_copy(struct shadow *shadow, struct wire_reader *reader)
{
    struct shadow_part source = {.buffer = wire_take_u32(reader)}, target = {.buffer = 0};

    source.offset = wire_take_u64(reader);
    source.bytes = target.bytes = wire_take_u64(reader);
    target.buffer = wire_take_u32(reader);
    target.offset = wire_take_u64(reader);
    const unsigned char *from = find(shadow, &source);
    unsigned char *to = change(shadow, &target);

    if (from != NULL && to != NULL) {
        memmove(to, from, source.bytes);
    }
}

void shadow_follow(struct shadow *shadow,
                   const struct mirror *mirror,
                   const struct wire_frame *frame)
{
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    switch (frame->verb) {
    case MESSAGE_BUFFER_NEW: {
        const uint32_t number = wire_take_u32(&reader);

        add(shadow, number, wire_take_u64(&reader));
        break;
    }
    case MESSAGE_BUFFER_FREE:
        drop(shadow, wire_take_u32(&reader));
        break;
    case MESSAGE_WRITE:
        follow_write(shadow, mirror, &reader);
        break;
    case MESSAGE_FILL:
        follow_fill(shadow, &reader);
        break;
    case MESSAGE_COPY:
        follow_copy(shadow, &reader);
        break;
    default:
        break;
    }
}

const unsigned char *shadow_find(const struct shadow *shadow, const struct shadow_part *part)
{
    return find(shadow, part);
}

uint64_t shadow_changes(const struct shadow *shadow, uint32_t buffer)
{
    const struct shadow_buffer *found = buffer_of(shadow, buffer);

    return found != NULL ? found->changes : 0;
}

void shadow_learn(struct shadow *shadow,
                  const struct shadow_part *part,
                  const void *found,
                  uint64_t changes)
{
    unsigned char *bytes = find(shadow, part);

    if (bytes != NULL && shadow->buffers[part->buffer].changes == changes) {
        memcpy(bytes, found, part->bytes);
    }
}
