// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend that wraps a backend, and meets each call in a way that a right kernel does not notice:
// outputs hold something else before it, or the host lets time pass after it. It waits for each
// call and measures it. One thread, that of the inner backend.
#pragma once

#include "base/status.h"
#include "device/backend.h"

enum conduct_mode {
    CONDUCT_PLAIN,
    CONDUCT_ZEROS, // Outputs that are dense are zero before a call, whatever was there.
    CONDUCT_LATE,  // Nothing is read for CONDUCT_LATE_MS after a call was said to be done.
    // Outputs that are dense are what they are right behind the call in the queue, whatever comes
    // into them later. As CONDUCT_PLAIN where the device does not copy.
    CONDUCT_AT_ONCE
};

enum { CONDUCT_LATE_MS = 200, CONDUCT_AT_ONCE_MS = 2 };

struct conduct_probe;

// `inner` is borrowed. The caller owns the probe; `conduct_probe_destroy` accepts NULL.
// TAPML_NO_MEMORY alone.
tapml_status conduct_probe_create(struct backend *inner,
                                  struct conduct_probe **out_probe) STATUS_USED;
void conduct_probe_destroy(struct conduct_probe *probe);

struct backend *conduct_probe_backend(struct conduct_probe *probe);

// It starts with CONDUCT_PLAIN.
void conduct_probe_set(struct conduct_probe *probe, enum conduct_mode mode);

// The nanoseconds from a call to the end of the wait for it, of the last one.
uint64_t conduct_probe_time_ns(const struct conduct_probe *probe);
