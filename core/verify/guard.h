// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The guard: a backend that wraps a backend and checks what every call does to memory.
//
// A buffer that is allocated through it lies between two redzones, and has poison until it is
// written. Before a call the guard keeps a copy of the call's buffers and poisons the outputs;
// after it, only the views of outputs and the regions of written states may differ from that copy,
// and no output may still be poison. So the guard detects a write before or behind a buffer, into
// the gaps of an output or to the rows of a state outside the region, a changed input, and an
// output that was not written. Rows of a written state are not poisoned, since an op may read them
// first.
//
// Weights of at most 64 KiB are read again, and compared by hash, after every call that uses them;
// larger ones after every sixteenth such call, so that a changed weight is found up to 15 calls
// late.
//
// The buffers nearest to the first output of a call are compared, too, with what was last seen in
// them: a write beyond all redzones names its op if it comes into one of them.
//
// Memory given to `buffer_wrap` has no redzones; everything else is checked for it too. The guard
// waits before and after each call. It allocates only if a call needs more room than all calls
// before. One thread, that of the inner backend.
#pragma once

#include "base/status.h"
#include "device/backend.h"
#include "exec/place.h"
#include "verify/guard_violation.h"

struct guard;

// `inner` is borrowed. The caller owns the guard, whose backend is `guard_backend`; buffers that
// were allocated through it are freed through it before. Its `call` fails with TAPML_INTERNAL if
// the call damaged memory; the message names op, instance and parameter. `guard_destroy` accepts
// NULL.
tapml_status guard_create(struct backend *inner, struct guard **out_guard) STATUS_USED;
void guard_destroy(struct guard *guard);
struct backend *guard_backend(struct guard *guard);

// The same as a link of a chain (exec/place), which owns the guard; `*out_guard` is set when the
// chain is made.
struct place_link guard_link(struct guard **out_guard);

// Turns the checks of calls on or off; they start on. Without checks calls are forwarded and waited
// for.
void guard_watch(struct guard *guard, int is_watching);

// Turns the timing of checked calls on or off; it starts on. Without it one wait serves the call
// and the reading of its buffers.
void guard_measure(struct guard *guard, int is_measuring);

// Turns the learning of what bystanders hold on or off; it starts on. Off, those that were seen
// before are compared, and nothing new is read: for who makes an unchecked call next, behind which
// all is forgotten.
void guard_learn(struct guard *guard, int is_learning);

// The bytes of a buffer after the last call, if that call was checked and used the buffer, but not
// as a weight; else NULL. Lives until the next call.
const void *guard_found(const struct guard *guard, const tapml_object *buffer);

// Frees the memory that a large call has needed. What `guard_found` returned is gone.
void guard_trim(struct guard *guard);

// What the last call damaged. Lives until the next call.
const struct guard_violation *guard_violation(const struct guard *guard);

// The time in ns of the last call and the wait for it, without the checks; 0 if it was not timed.
uint64_t guard_time_ns(const struct guard *guard);

// -- Calls that are queued ahead -----------------------------------------------------------------

// Room for one checked call from when it is queued until it is looked at. The caller owns it, and
// destroys it while no work is pending; NULL is allowed.
struct guard_flight;
tapml_status guard_flight_create(struct guard_flight **out_flight) STATUS_USED;
void guard_flight_destroy(struct guard_flight *flight);

// Queues a checked call with all that its check reads, and with `timed` the same call once more
// behind it, unchecked, between two stamps (`backend_stamp`). Work that is queued later may use the
// same buffers. Where outputs have gaps, and at the first use of a weight, it waits. What `call`
// points to stays until the call is looked at. After a failure all that was queued is waited for,
// and no flight that is not looked at is used any more.
tapml_status guard_queue(struct guard *guard,
                         const struct backend_call *call,
                         int timed,
                         struct guard_flight *flight) STATUS_USED;

// Looks at a call that was queued, after a wait: until `guard_trim`, which comes before the flight
// is used again or destroyed, the functions above speak of it, the time being that of its second
// run. Fails as a checked call does. If it found something, what was queued behind the call may
// have gone wrong by it, and what it damaged is made whole by work that is waited for. Bystanders
// are not looked at: the second run makes them unknown.
tapml_status guard_land(struct guard *guard, struct guard_flight *flight) STATUS_USED;
