// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Whether weights change: they are read again and compared by hash.
//
// Weights of at most 64 KiB are compared after every call, larger ones after every sixteenth that
// uses them. `inner` is the backend behind the guard; functions wait for it.
#pragma once

#include "verify/guard_violation.h"

// Before a call: hashes a weight that was not hashed since it was written, and notes in the watch
// what it holds. `room` is for scratch.
tapml_status guard_weight_begin(struct backend *inner,
                                struct room *room,
                                struct guarded_watch *watch) STATUS_USED;

// Behind a call, before later work is queued: counts a use of a weight, and reads a large one if it
// is due.
tapml_status guard_weight_read(struct backend *inner,
                               struct room *room,
                               struct guarded_watch *watch) STATUS_USED;

// Compares a weight whose image, or what stands for it, was read, and describes a change in
// `out_violation`, once.
tapml_status guard_weight_check(struct backend *inner,
                                const struct guarded_call *guarded,
                                const struct guarded_watch *watch,
                                struct guard_violation *out_violation) STATUS_USED;
