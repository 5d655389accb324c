// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A call that goes through the guard: its tensors, its buffers with images of what is in them, and
// its arguments for the backend behind the guard. One thread; TAPML_NO_MEMORY.
#pragma once

#include "verify/guard_buffer.h"
#include "verify/room.h"

// A tensor or a panel of one, as an argument of the call.
struct guarded_use {
    uint32_t param;
    const tapml_tensor *tensor;
    struct guard_buffer *buffer;
};

// A buffer of the call.
struct guarded_watch {
    struct guard_buffer *buffer;
    const struct guarded_use *use; // The first, an output where there is one.
    unsigned char *before;         // With the redzones; NULL for a weight.
    unsigned char *after;          // NULL for a large weight.
    const void *given;             // What it should hold before the call, of the buffer; or NULL.
    int is_weight;
    struct hash held;  // By a weight, before the call: the next call may find others there.
    int is_due;        // A large weight, which was read after the call:
    struct hash found; // what it holds.
};

// What a call writes of an output. Offsets count from the inner buffer's first byte.
struct guarded_view {
    int64_t shape[TAPML_MAX_RANK];
    int64_t stride[TAPML_MAX_RANK];
    uint32_t rank;
    uint64_t offset;
    uint64_t element_bytes;
    uint64_t count;
};

// All zero to begin with. Nothing is allocated if a call needs no more room than one before.
struct guarded_call {
    const struct backend_call *call; // Borrowed, until the next one.
    struct guarded_use *uses;
    uint32_t use_count;
    struct guarded_watch *watches;
    uint32_t watch_count;
    struct room use_room, watch_room, argument_room, tensor_room, list_room, image_room;
};

void guarded_call_release(struct guarded_call *guarded);

// Begins with `call`: lists its tensors, whose buffers are those of the guard, and makes its
// arguments for the backend behind the guard. `*out_args` lives until the next call begins.
tapml_status guarded_call_begin(struct guarded_call *guarded,
                                const struct backend_call *call,
                                const tapml_value **out_args) STATUS_USED;

// Lists the buffers of the call, with room for what is in them.
tapml_status guarded_call_list_watches(struct guarded_call *guarded) STATUS_USED;

// The watch of a buffer, or NULL.
struct guarded_watch *guarded_call_find_watch(const struct guarded_call *guarded,
                                              const struct guard_buffer *buffer);

// The parameter of a use, and whether a parameter is written.
const tapml_param *guarded_call_param(const struct guarded_call *guarded,
                                      const struct guarded_use *use);
int guarded_call_is_output(const tapml_param *param);

// The part of a tensor that the call may write.
tapml_status guarded_call_view(const struct guarded_call *guarded,
                               const struct guarded_use *use,
                               struct guarded_view *out_view) STATUS_USED;

// Copies a view between the image of its buffer and dense memory.
void guarded_call_gather(const struct guarded_view *view, const unsigned char *image, void *dense);
void guarded_call_scatter(const struct guarded_view *view, const void *dense, unsigned char *image);
