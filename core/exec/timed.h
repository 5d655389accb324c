// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend that wraps a backend and puts down on a timeline (base/timeline) what the host asks of
// it: each call, transfer, submission and wait, with its op, instance and bytes, on the track
// "host" of a process that is named as the place.
//
// Nothing is waited for that would not be, and nothing is handed over earlier: a call of a device
// with a queue takes as long as it takes to queue it, and its work shows as the wait for it. What
// ops cost on such a device while each is told from the next one is what exec/trace finds out,
// which draws on the track "device". Where no timeline is wanted the link is left out.
//
// One thread, that of the inner backend, whose failures are returned.
#pragma once

#include "base/status.h"
#include "base/timeline.h"
#include "exec/place.h"

// The link of a chain, which owns the wrapper; the timeline outlives it.
struct place_link timed_link(struct timeline *timeline);

// The track `name` of a place, as timeline_track gives it.
tapml_status timed_track(struct timeline *timeline,
                         const struct place_settings *settings,
                         const char *name,
                         struct timeline_track **out_track) STATUS_USED;
