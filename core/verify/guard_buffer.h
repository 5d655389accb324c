// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A buffer between two redzones, as the callers of the guard (verify/guard.h) have it.
//
// `inner` is the backend that the guard wraps; the buffer there contains the redzones too. One
// thread; failures are those of `inner`.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "device/backend.h"

// What new buffers are filled with, and what outputs are before a call: NaNs, as redzones are
// others, so that reading them shows. They differ, since an op may copy what it has read to where
// it writes. Redzones keep the alignment of what is between them, and are a page, so that a write
// some rows beyond an output is still in one.
enum {
    GUARD_BUFFER_POISON = 0x7fc0dead,
    GUARD_BUFFER_UNWRITTEN = 0x7fc1dead,
    GUARD_BUFFER_REDZONE_BYTES = 4096
};

struct guard_buffer {
    tapml_object object; // First, so that a `tapml_object *` is a `struct guard_buffer *`.
    tapml_object *inner;
    uint64_t size;
    uint64_t redzone; // Bytes on either side; 0 around wrapped memory.
    uint32_t zones[2][GUARD_BUFFER_REDZONE_BYTES / sizeof(uint32_t)]; // What they hold.

    // What it should hold before the next checked call, borrowed until then, or NULL; and whether
    // it held something else.
    const void *given;
    int was_other;

    // As a bystander of calls (verify/guard_bystanders.h): what was last seen in it.
    struct guard_buffer *older, *newer;
    struct hash seen;
    uint64_t seen_epoch;

    // As a weight: of all bytes, as they were when they were first used, and how often since.
    struct hash hash;
    int is_hashed;
    uint64_t uses;
};

// A new buffer of `size` bytes, full of poison. The redzones of two buffers differ if their
// `serial` does. `guard_buffer_destroy` frees it.
tapml_status guard_buffer_create(struct backend *inner,
                                 uint64_t size,
                                 uint32_t serial,
                                 struct guard_buffer **out_buffer) STATUS_USED;

// A buffer over memory of the caller, without redzones. `guard_buffer_destroy` frees it.
tapml_status guard_buffer_wrap(struct backend *inner,
                               void *memory,
                               uint64_t size,
                               uint32_t access,
                               struct guard_buffer **out_buffer) STATUS_USED;
void guard_buffer_destroy(struct backend *inner, struct guard_buffer *buffer);

// The buffer of a handle that one of the functions above has made.
struct guard_buffer *guard_buffer_own(tapml_object *object);

// Bytes of the inner buffer, and how many of them transfers reach: these are whole grains, so of
// wrapped memory the last bytes may be out of reach.
uint64_t guard_buffer_inner_bytes(const struct guard_buffer *buffer);
uint64_t guard_buffer_readable_bytes(const struct guard_buffer *buffer);

// Queues that the redzones become whole; the buffer stays until the next wait.
tapml_status guard_buffer_write_redzones(struct backend *inner,
                                         const struct guard_buffer *buffer) STATUS_USED;

// Fills memory with GUARD_BUFFER_POISON, or with another word.
void guard_buffer_poison(void *memory, uint64_t size);
void guard_buffer_fill(void *memory, uint64_t size, uint32_t word);

// The offset in bytes of the first word that differs, or `size`. Its first byte may be the same by
// chance.
uint64_t guard_buffer_difference(const void *a, const void *b, uint64_t size);
