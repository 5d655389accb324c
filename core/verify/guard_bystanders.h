// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Whether a call writes into buffers that are none of its arguments: a write beyond all redzones.
//
// The buffers of a guard stand in the order in which they were made, since memory is mostly given
// out in that order. After a checked call those nearest to its first output are read, at most 16 of
// at most 256 KiB in all, and compared with the hash of what was last seen in them. What the host
// writes, and what unchecked calls may have written, is learned anew, and so is all where contents
// of memory have gone, as with a worker that is started again. Wrapped memory is left out: its
// owner writes there as it likes. One thread, that of the guard.
#pragma once

#include "verify/guard_violation.h"

enum { GUARD_BYSTANDERS_MAX = 16 };

// The buffers of one guard. All zero to begin with.
struct guard_bystanders {
    struct guard_buffer *newest;
    uint64_t epoch;      // What was learned in an earlier one does not count.
    uint64_t generation; // Of the memory (device/backend.h) in which all was learned.
    int is_forgetful; // All is forgotten before the next check: what was seen before is read alone,
                      // and nothing is learned.
    struct room room;

    // What is read behind a call, one image behind the other.
    struct guard_bystanders_reading {
        struct guard_buffer *buffers[GUARD_BYSTANDERS_MAX];
        uint32_t count;
        uint64_t bytes;
        unsigned char *images;
    } reading;
};

// Frees what checks have needed. The buffers are the caller's.
void guard_bystanders_release(struct guard_bystanders *bystanders);

// Appends a new buffer, or takes one out that is about to be freed.
void guard_bystanders_add(struct guard_bystanders *bystanders, struct guard_buffer *buffer);
void guard_bystanders_remove(struct guard_bystanders *bystanders, struct guard_buffer *buffer);

// Somebody writes to a buffer, or may have written to any, in an order that the guard does not see.
void guard_bystanders_forget(struct guard_buffer *buffer);
void guard_bystanders_forget_all(struct guard_bystanders *bystanders);

// Queues behind a call that buffers near its first output are read, so that one wait serves them
// and the buffers of the call. Allocates only if it needs more room than before. TAPML_NO_MEMORY
// and failures of `inner`.
tapml_status guard_bystanders_read(struct guard_bystanders *bystanders,
                                   struct backend *inner,
                                   const struct guarded_call *guarded) STATUS_USED;

// After that wait, of a call that was found clean in all else: learns from the images of its
// buffers, and compares what was read. A change is described in `out_violation`, once.
void guard_bystanders_check(struct guard_bystanders *bystanders,
                            const struct backend *inner,
                            const struct guarded_call *guarded,
                            struct guard_violation *out_violation);
