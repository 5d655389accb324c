// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The near side of the link: a backend whose work is done somewhere else, behind a channel.
//
// Calls are written down and sent together; the session waits only where it waits for a device, so
// an error of a call comes out of the next wait, with its instance, and what was queued behind it
// is left out. Buffers of host-memory devices lie in memory that both sides see: while nothing is
// queued, transfers are plain copies without a message. For others such memory is the staging.
//
// Where the far side ends or hangs, the call that waits fails with a sentence: how it ended, in
// which op and instance, and its last words. The next use starts it again, with the same buffers;
// what was in device memory is lost, and `generation` says so. An instance that brought it down
// twice is not called any more.
#pragma once

#include "base/arena.h"
#include "link/channel.h"
#include "link/message.h"
#include "schema/catalogue.h"

struct client_options {
    struct channel *channel;                // The client's from now on, also where it fails.
    const struct message_setting *settings; // What is to be opened. Borrowed.
    size_t setting_count;
    struct catalogue *catalogue; // Takes in the ops,
    struct arena *arena;         // whose schemas are kept here: it outlives the catalogue.
    uint64_t deadline_ns;        // The least that an answer may take; 0: as long as it likes.
    uint32_t counter_count;      // Counts to be asked for beside the launches.
};

tapml_status client_create(const struct client_options *options,
                           struct backend **out_backend) STATUS_USED;

// A count of the far side, summed up over its lives as far as they were asked.
uint64_t client_count(struct backend *backend, uint32_t index);

// How often the far side has ended.
uint32_t client_falls(const struct backend *backend);
