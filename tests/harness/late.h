// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/backend.h"

// A device with memory of its own that does all work as late as it may: nothing happens before a
// wait, and then in order. What it was to read from host memory it reads only then, so whoever
// overwrites that memory too early gets wrong numbers. Ops are computed by a host-memory backend
// behind it.
//
// With a clock it works by time instead: each piece of work begins when it has come to the device,
// which takes `latency_ns`, and when what was queued before it is done. Whoever waits, for this
// device or for another one of the clock, sees all work done whose time has come, and no other. Who
// reads or overwrites memory too early or too late gets wrong numbers under some times.
struct late;
struct late_clock;

// Time that really passes, or that only waits move: then a test takes none. The creator destroys it
// after its devices.
struct late_clock *late_clock_create(int is_real);
void late_clock_destroy(struct late_clock *clock);
uint64_t late_clock_ns(const struct late_clock *clock);

// What it does with those that want to be notified of a point.
enum late_notices {
    LATE_SILENT,   // It refuses: they have to wait.
    LATE_NOTIFIES, // It does so when the work is done, or has failed.
    LATE_FORGETS   // It accepts, and does nothing.
};

struct late_options {
    struct backend *inner;     // Host-memory; borrowed. NULL: it has no ops.
    uint64_t buffer_bytes_max; // 0: no limit.
    unsigned takes;            // ENCODING_TAKES_*
    const char *lacks;         // An op that it does not have; or NULL.
    const char *refuses; // An op that it refuses with the reason "too late for that"; or NULL.
    const char *fails;   // An instance at which queued work fails; or NULL.
    enum late_notices notices;
    uint64_t write_ns; // What each write takes beside its work.
    int64_t rows_max;  // Rows of an op's first tensor beyond which it refuses; 0: no limit.

    struct late_clock *clock; // Shared by devices; or NULL.
    uint64_t latency_ns;      // Until work comes to the device, which takes other work meanwhile.
    uint64_t busy_ns;         // That a call occupies the device.
    uint64_t jitter_ns;       // What comes to both by chance, at most,
    uint64_t seed;            // drawn from here.
    int follows;              // Its queue waits for points of other devices of the clock.

    // An instance whose output becomes a number throughout; or NULL.
    const char *levels;
    float level;
};

struct backend *late_create(const struct late_options *options);

// What was done, counted when it was asked for.
struct late_counts {
    uint64_t writes;
    uint64_t written_bytes;
    uint64_t reads;
    uint64_t read_bytes;
    uint64_t fills;
    uint64_t calls;
    uint64_t flushes;
    uint64_t waits; // Those that had work.
    uint64_t signals;
    uint64_t buffers_alive;
    uint64_t bytes_alive; // Of these,
    uint64_t bytes_most;  // and the most so far.
};
struct late_counts late_counts(const struct backend *backend);

// Instances at which queued work fails from now on, beside that of the options; `at_once`: the call
// itself does. Borrowed.
void late_fail_at(struct backend *backend, const char *const *instances, size_t count, int at_once);

// The bytes of a buffer as the device sees them now, without the work that waits.
const void *late_bytes(const tapml_object *buffer);
