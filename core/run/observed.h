// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A call as observers of plugins see it: the struct of tapml/draft/observer.h over a call of a
// backend, with its functions, and what was written by them.
//
// One thread, that of the backend.
#pragma once

#include "base/arena.h"
#include "carve/fetcher.h"
#include "device/backend.h"

#include <tapml/draft/observer.h>

// All but `table` is this module's.
struct observed {
    tapml_observed table; // What the observer gets.
    struct fetcher *fetcher;
    const struct backend_call *call;
    int is_before;    // The outputs have no values yet.
    int may_write;    // The observer says that it replaces.
    uint32_t written; // A bit for each parameter.

    // Of the backend, while it was read or written: that is a failure of the device, whatever the
    // observer makes of it. TAPML_OK and NULL: none.
    tapml_status failure;
    const char *message; // In the arena of the call.
    struct arena *arena;
};

// Describes a call that goes to the backend of `fetcher`. Copies of the arguments are in `arena`;
// `place` and `device` are borrowed, and so is the call. The observer that sees it and the moment
// are set by observed_turn. TAPML_NO_MEMORY.
tapml_status observed_make(const struct backend_call *call,
                           const char *place,
                           const char *device,
                           struct fetcher *fetcher,
                           struct arena *arena,
                           struct observed *out_observed) STATUS_USED;

// It is the turn of an observer, before the call or after it; nothing is written yet.
void observed_turn(struct observed *observed, int is_before, int may_write);

// Whether what was written is what `is_made` needs, before a call: every output if the observer has
// made the call, nothing if it has not. TAPML_INVALID names the parameter.
tapml_status observed_check(const struct observed *observed, int is_made) STATUS_USED;
