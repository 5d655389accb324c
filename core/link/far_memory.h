// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Buffers of the far side of a link, and the bytes that go to them and come back.
//
// Buffers of host-memory devices lie in memory that both sides see: while nothing is queued,
// transfers are plain copies without a message. For others such memory is the staging. The façade
// (device/backend.h) has checked ranges and access. Failures are those of link/far_side.h; all
// functions: the thread of the far side.
#pragma once

#include "link/far_side.h"

// A buffer of `size` bytes. `far_memory_free` or `far_side_release` frees it.
tapml_status
far_memory_new(struct far_side *far, uint64_t size, tapml_object **out_buffer) STATUS_USED;

// A buffer over memory of the host that is shared with the far side; TAPML_UNIMPLEMENTED for any
// other, for devices with memory of their own and for `access` other than TAPML_ACCESS_READ.
tapml_status far_memory_wrap(struct far_side *far,
                             void *memory,
                             uint64_t size,
                             uint32_t access,
                             tapml_object **out_buffer) STATUS_USED;
void far_memory_free(struct far_side *far, tapml_object *object);

// Ends one use of shared memory; after the last, the far side unmaps it.
void far_memory_unshare(struct far_side *far, const void *memory);

// Transfers, as `backend_write`, `backend_read`, `backend_fill` and `backend_copy`. What is read is
// in `target` after the next wait; what is written was copied, unless it lies in shared memory.
tapml_status far_memory_write(struct far_side *far,
                              tapml_object *object,
                              uint64_t offset,
                              const void *source,
                              uint64_t size) STATUS_USED;
tapml_status far_memory_read(struct far_side *far,
                             tapml_object *object,
                             uint64_t offset,
                             void *target,
                             uint64_t size) STATUS_USED;
tapml_status far_memory_fill(struct far_side *far,
                             tapml_object *object,
                             uint64_t offset,
                             uint64_t size,
                             uint32_t pattern) STATUS_USED;
tapml_status far_memory_copy(struct far_side *far, const struct backend_copy *copy) STATUS_USED;

// Queues a stamp of time, as `backend_stamp`. The clock is that of the far side's machine.
tapml_status far_memory_stamp(struct far_side *far, uint64_t *out_ns) STATUS_USED;
