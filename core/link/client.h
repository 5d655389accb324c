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

#include "device/backend.h"

struct far_side_options;

// Starts the far side and opens what `options` describe; the channel in them belongs to the
// backend, also after a failure. The caller releases the backend before the catalogue and the
// arena. Failures are those of the far side, with its own message, or of starting it.
tapml_status client_create(const struct far_side_options *options,
                           struct backend **out_backend) STATUS_USED;

// A count of the far side (`counter_count` of its options), summed up over its lives as far as it
// was asked for. 0 if there is no such count.
uint64_t client_count(struct backend *backend, uint32_t index);

// How often the far side has ended.
uint32_t client_crash_count(const struct backend *backend);
