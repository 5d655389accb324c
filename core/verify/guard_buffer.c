// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/guard_buffer.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <string.h>

struct guard_buffer *guard_buffer_own(tapml_object *object)
{
    return (struct guard_buffer *)object;
}

uint64_t guard_buffer_inner_bytes(const struct guard_buffer *buffer)
{
    return buffer->size + 2 * buffer->redzone;
}

uint64_t guard_buffer_readable_bytes(const struct guard_buffer *buffer)
{
    return guard_buffer_inner_bytes(buffer) / TAPML_TRANSFER_GRAIN * TAPML_TRANSFER_GRAIN;
}

void guard_buffer_poison(void *memory, uint64_t size)
{
    guard_buffer_fill(memory, size, GUARD_BUFFER_POISON);
}

void guard_buffer_fill(void *memory, uint64_t size, uint32_t word)
{
    enum { PIECE = 4096 };
    unsigned char *bytes = memory;
    uint64_t filled = size < sizeof(word) ? size : sizeof(word);
    if (size > 0) {
        memcpy(bytes, &word, filled);
    }
    while (filled < size) { // What is there, again: a copy is faster than words one by one.
        const uint64_t piece = filled < PIECE ? filled : PIECE;
        const uint64_t rest = size - filled;
        memcpy(bytes + filled, bytes, piece < rest ? piece : rest);
        filled += piece < rest ? piece : rest;
    }
}

// Each word of each redzone is another NaN: a kernel that goes too far by as much in an input as in
// an output copies the one redzone into the other, which must not look untouched.
static void draw_redzones(struct guard_buffer *buffer, uint32_t serial)
{
    enum { QUIET_NAN = 0x7fc00000, PAYLOAD = 0x3fffff, WORDS = sizeof(buffer->zones) / 4 };
    uint32_t *words = &buffer->zones[0][0];
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = QUIET_NAN | ((serial * WORDS + i) & PAYLOAD);
    }
}

tapml_status guard_buffer_write_redzones(struct backend *inner, const struct guard_buffer *buffer)
{
    TAPML_TRY(backend_write(inner, buffer->inner, 0, buffer->zones[0], buffer->redzone));
    return backend_write(inner, buffer->inner, buffer->redzone + buffer->size, buffer->zones[1],
                         buffer->redzone);
}

static tapml_status make_inner(struct backend *inner, struct guard_buffer *buffer)
{
    TAPML_TRY(backend_buffer_new(inner, guard_buffer_inner_bytes(buffer), &buffer->inner));
    tapml_status status = backend_fill(inner, buffer->inner, 0, guard_buffer_inner_bytes(buffer),
                                       GUARD_BUFFER_POISON);
    if (status == TAPML_OK) {
        status = guard_buffer_write_redzones(inner, buffer);
    }
    if (status != TAPML_OK) {
        (void)backend_wait(inner); // What is queued reads the redzones.
        backend_buffer_free(inner, buffer->inner);
    }
    return status;
}

tapml_status guard_buffer_create(struct backend *inner,
                                 uint64_t size,
                                 uint32_t serial,
                                 struct guard_buffer **out_buffer)
{
    if (size > UINT64_MAX - 2 * (uint64_t)GUARD_BUFFER_REDZONE_BYTES) {
        return status_fail(TAPML_NO_MEMORY, "a buffer of %" PRIu64 " bytes is too large", size);
    }
    struct guard_buffer *buffer = alloc_new(sizeof(*buffer));
    if (!buffer) {
        return status_no_memory();
    }
    buffer->size = size;
    buffer->redzone = GUARD_BUFFER_REDZONE_BYTES;
    draw_redzones(buffer, serial);
    const tapml_status status = make_inner(inner, buffer);
    if (status != TAPML_OK) {
        alloc_free(buffer);
        return status;
    }
    *out_buffer = buffer;
    return TAPML_OK;
}

tapml_status guard_buffer_wrap(struct backend *inner,
                               void *memory,
                               uint64_t size,
                               uint32_t access,
                               struct guard_buffer **out_buffer)
{
    struct guard_buffer *buffer = alloc_new(sizeof(*buffer));
    if (!buffer) {
        return status_no_memory();
    }
    buffer->size = size;
    const tapml_status status = backend_buffer_wrap(inner, memory, size, access, &buffer->inner);
    if (status != TAPML_OK) {
        alloc_free(buffer);
        return status;
    }
    *out_buffer = buffer;
    return TAPML_OK;
}

void guard_buffer_destroy(struct backend *inner, struct guard_buffer *buffer)
{
    backend_buffer_free(inner, buffer->inner);
    alloc_free(buffer);
}

uint64_t guard_buffer_difference(const void *a, const void *b, uint64_t size)
{
    const unsigned char *left = a, *right = b;
    uint64_t at = 0;
    if (memcmp(left, right, size) == 0) {
        return size;
    }
    while (left[at] == right[at]) {
        at++;
    }
    return at - at % TAPML_TRANSFER_GRAIN;
}
