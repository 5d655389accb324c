// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend that wraps a backend and keeps account of what the host asks of it: how long it had
// work, what its first call took and the bytes that were moved, which say what a place costs. Where
// a timeline (base/timeline) is wanted it also puts down each call, transfer, submission and wait
// there, with its op, instance and bytes, on the track "host" of a process that is named as the
// place.
//
// Nothing is waited for that would not be, and nothing is handed over earlier: a call of a device
// with a queue takes as long as it takes to queue it, and its work shows as the wait for it. What
// ops cost on such a device while each is told from the next one is what exec/trace finds out,
// which draws on the track "device". Where no timeline is wanted nothing is drawn.
//
// What is asked is a stage of the calling thread, too (base/stages), where that has an account:
// STAGES_SOURCE for the place "source", else the one of what it is; a call is STAGES_DEVICE where
// the device works in host memory, while it is called.
//
// One thread, that of the inner backend, whose failures are returned.
#pragma once

#include "base/status.h"
#include "base/timeline.h"
#include "exec/place.h"

// What a place was asked for so far. Times are nanoseconds of the host's clock.
struct timed_figures {
    uint64_t begun_ns; // The moment at which its opening began,
    uint64_t open_ns;  // and how long that took.
    uint64_t first_ns; // From its first call to the end of the wait for it; 0: none was waited for.
    uint64_t busy_ns;  // In which it had work: from what it is given until the host has waited for
                       // all of it.
    uint64_t sent, received; // Bytes.
};

struct timed_options {
    struct timeline *timeline; // Outlives the wrapper; NULL: nothing is drawn.
    uint64_t begun_ns;         // When the opening of the place began (base/clock).
};

// The link of a chain, which owns the wrapper. The options live until the chain is made.
struct place_link timed_link(const struct timed_options *options);

// The figures of a place; all 0 if its chain has no such link.
struct timed_figures timed_figures(const struct place *place);

// The track `name` of a place, as timeline_track gives it.
tapml_status timed_track(struct timeline *timeline,
                         const struct place_settings *settings,
                         const char *name,
                         struct timeline_track **out_track) STATUS_USED;
