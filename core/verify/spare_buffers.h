// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Buffers that are kept from one case to the next, since most cases of a model have the same sizes.
//
// What is kept takes at most SPARE_BUFFERS_BYTES_MAX: a run has one such set for its target and one
// for each device that calibrates, and together they must stay small beside the weights. One
// thread, that of the backend.
#pragma once

#include "base/status.h"
#include "device/backend.h"

enum { SPARE_BUFFERS_BYTES_MAX = 8 << 20 };

struct spare_buffer {
    tapml_object *buffer;
    uint64_t size;
    int is_used;
    uint32_t holds; // Of calls that were queued and not looked at.
};

// All zero but for `backend`, which is borrowed, to begin with.
struct spare_buffers {
    struct backend *backend;
    struct spare_buffer *items; // The oldest first.
    size_t count, capacity;
    uint64_t bytes; // Of all of them.
    int is_pending; // Queued work may use what was left.
};

// A buffer of exactly `size` bytes with any contents, until `spare_buffers_end`. Fails as
// `backend_buffer_new` does, or by the wait behind `spare_buffers_leave`.
tapml_status spare_buffers_take(struct spare_buffers *spare,
                                uint64_t size,
                                tapml_object **out_buffer) STATUS_USED;

// Ends the use of all that was taken; no work is queued on it. Frees what is too much to be kept.
void spare_buffers_end(struct spare_buffers *spare);

// The same while work is queued: nothing is freed, and what is taken again is used by work behind
// it. A take that has to free something waits.
void spare_buffers_leave(struct spare_buffers *spare);

// Keeps a buffer that was taken from being freed until it is let go as often, whatever ends its
// use. That it is taken again does not matter.
void spare_buffers_hold(struct spare_buffers *spare, const tapml_object *buffer);
void spare_buffers_let_go(struct spare_buffers *spare, const tapml_object *buffer);

// Ends all uses and frees all buffers, of which none is held.
void spare_buffers_release(struct spare_buffers *spare);
