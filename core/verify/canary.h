// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A canary: the same work on a device again and again, by which it is seen that the device itself
// has changed. What it comes to is compared with what it came to at first, bit for bit, and so is
// the time that it takes. Whether it is right is what verify/driver_check.h and the cases are for;
// here it only tells which of two is of a sick device, that of now or that of an earlier process.
//
// The device is *sick* if the bits are others: what it computes says nothing about ops then. It is
// *slow* if all of several tries take well over what the fastest of the first ones took: it
// throttles, or something else keeps it busy, which cannot be told apart from here; results stand,
// times do not.
//
// One thread, that of the backend. No work may be pending, and none is afterwards.
#pragma once

#include "base/hash.h"
#include "device/backend.h"

struct catalogue;

enum {
    CANARY_CALLS = 8,         // Of one op, each of the result of the one before it, in a try.
    CANARY_TRIES = 3,         // In a round of a check,
    CANARY_ROUNDS = 3,        // of which there is more than one where a device is slow.
    CANARY_TIMES_SLOWER = 16, // Than the fastest of the first tries,
    CANARY_GRACE_MS = 500,    // and by so much more: then a try is slow.
    CANARY_SENTENCE = 256
};

struct canary;

enum canary_state { CANARY_WELL, CANARY_SLOW, CANARY_SICK };

// The backend and the catalogue are borrowed. The caller destroys the canary.
tapml_status canary_create(struct backend *backend,
                           const struct catalogue *catalogue,
                           struct canary **out_canary) STATUS_USED;
void canary_destroy(struct canary *canary); // NULL is allowed.

// The time of a try from which on it is slow. After the first check.
uint64_t canary_slow_ns(const struct canary *canary);

// What an earlier process has noted of this device, before the first check.
void canary_expect(struct canary *canary, struct hash bits);

// Whether the device runs the op of the canary: else no check finds anything. After the first one.
int canary_is_there(const struct canary *canary);

// What it came to. After the first check.
struct hash canary_bits(const struct canary *canary);

// Whether the last try came to what the op is, within what arithmetic in f32 and a rough
// exponential function lose. After a check.
int canary_is_right(const struct canary *canary);

// From now on it is the last try that others are compared with. After a check.
void canary_accept(struct canary *canary);

// Makes the work, and says how the device is, in a sentence unless it is well. A failure is that of
// the backend. Work that somebody has killed is done again (exec/persist.h).
tapml_status canary_check(struct canary *canary,
                          enum canary_state *out_state,
                          char out_sentence[CANARY_SENTENCE]) STATUS_USED;
