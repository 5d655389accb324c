// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The guard: a backend that wraps a backend and checks what every call does to memory.
//
// A buffer made through it lies between two redzones, and is poison until it is written. Before a
// call the guard keeps a copy of the call's buffers and poisons the outputs; after it, only the
// views of outputs and the regions of written states may differ from that copy, and no output may
// still be poison. So it sees a write before or behind a buffer, into the gaps of an output or the
// rows of a state outside the region, a changed input and an output that was not written. Rows of a
// written state are not poisoned, since an op may read them first.
//
// Weights are read again, and compared by hash, after every call where they have at most 64 KiB,
// else after every sixteenth that uses them: a changed weight is then found up to 15 calls late.
//
// Memory given to `buffer_wrap` has no redzones; all else is checked there too. The guard waits
// around each call. It allocates where a call needs more room than any before, and else nothing.
#pragma once

#include "base/status.h"
#include "device/backend.h"
#include "exec/place.h"
#include "verify/guard_violation.h"

struct guard;

// `inner` is borrowed. The caller owns the guard, whose backend is `guard_backend`; buffers made
// through it are freed through it before. Its `call` fails with TAPML_INTERNAL and a sentence that
// names op, instance and parameter where the call went wrong.
tapml_status guard_create(struct backend *inner, struct guard **out_guard) STATUS_USED;
void guard_destroy(struct guard *guard);
struct backend *guard_backend(struct guard *guard);

// The same as a link of a chain (exec/place), which owns the guard; `*out_guard` is set when the
// chain is made.
struct place_link guard_link(struct guard **out_guard);

// Whether calls are checked; they are at first. Without, calls are forwarded and waited for.
void guard_watch(struct guard *guard, int is_watching);

// Whether checked calls are timed; they are at first. Without, they are waited for together with
// what is read of their buffers.
void guard_measure(struct guard *guard, int is_measuring);

// What a buffer had after the last call, if that was checked and used it, but not as a weight; else
// NULL. Lives until the next call.
const void *guard_found(const struct guard *guard, const tapml_object *buffer);

// What the last call did wrong. Lives until the next call.
const struct guard_violation *guard_violation(const struct guard *guard);

// Time of the last call and the wait for it, without the checks; 0 where it was not timed.
uint64_t guard_time_ns(const struct guard *guard);
