// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A timeline: what the threads of this process and the devices behind them did, and when, as a file
// of Chrome's trace events (the JSON array of its "Trace Event Format"), which Perfetto and
// chrome://tracing draw.
//
// A track is one line of the picture, a thread of a process in the words of the format. It has a
// ring of its own, of a fixed size, into which one thread at a time puts spans and counts; a thread
// of the timeline writes them down. Nothing is allocated for a span. Where a ring is full, the
// thread that fills it waits until there is room: the memory is bounded, and nothing is left out.
// Processes and tracks are numbered in the order in which they are asked for, so that they are the
// same in two runs of the same work.
//
// The file is a whole JSON document at any moment, however the program ends: each write replaces
// the end of the array, and none is under way when the program ends by itself, be it in the handler
// of a signal (timeline_settle). A kill from outside in the midst of a write can cut the last one.
//
// Where no timeline is wanted there is no track: each function takes NULL for one and does nothing,
// and `timeline_begin` does not look at the clock.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    TIMELINE_TRACKS_MAX = 64,
    TIMELINE_AT_ONCE_MAX = 4, // Timelines of a process.
    TIMELINE_NAME = 64,       // Bytes of a name; a longer one is cut.
    TIMELINE_DETAIL = 96,
    TIMELINE_RING = 1024 // Spans and counts that wait to be written, of each track.
};

struct timeline;
struct timeline_track;

// Makes the file, empty but whole, in place of what is there, and starts the thread that writes.
// The caller destroys it after all that has tracks of it. TAPML_INVALID where no regular file can
// be there, or for too many timelines; TAPML_UNAVAILABLE where it cannot be written.
tapml_status timeline_create(const char *path, struct timeline **out_timeline) STATUS_USED;

// Writes what is left, ends the thread and closes the file; what its tracks get later is dropped.
// Returns the first failure of the writing, which names the file.
tapml_status timeline_finish(struct timeline *timeline) STATUS_USED;

// Finishes it where that is to be done, and frees it with its tracks. Accepts NULL.
void timeline_destroy(struct timeline *timeline);

// The track `name` of `process`, made where there is none yet. Both are copied. The timeline owns
// it. `*out_track` is NULL where `timeline` is. TAPML_INVALID for too many, TAPML_NO_MEMORY. [any]
tapml_status timeline_track(struct timeline *timeline,
                            const char *process,
                            const char *name,
                            struct timeline_track **out_track) STATUS_USED;

// When something began; 0 without a track.
uint64_t timeline_begin(const struct timeline_track *track);

// What a span is.
struct timeline_span {
    const char *kind;   // A constant: "call", "transfer", "wait", "stage". The category.
    const char *name;   // Copied, as
    const char *detail; // this one, the instance of an op. NULL: none.
    uint64_t bytes;     // That were moved; 0: nothing is said of it.
    uint64_t whole; // Of a message: bytes that sending all would take. 0: nothing is said of it.
};

// Puts down what took from `begin_ns`, of timeline_begin, until now; or until `end_ns`.
void timeline_end(struct timeline_track *track,
                  uint64_t begin_ns,
                  const struct timeline_span *span);
void timeline_put(struct timeline_track *track,
                  uint64_t begin_ns,
                  uint64_t end_ns,
                  const struct timeline_span *span);

// Puts down that the count `name`, a constant, is `value` from now on: drawn as a curve.
void timeline_count(struct timeline_track *track, const char *name, uint64_t value);

// The same of bytes that were moved, beside those that sending all would have taken, and all but
// the weights.
struct timeline_bytes {
    uint64_t bytes, whole, values;
};
void timeline_count_bytes(struct timeline_track *track,
                          const char *name,
                          const struct timeline_bytes *bytes);

// The track of the calling thread, for what it does itself; NULL: it has none. It is set once a
// thread begins, and taken from it before its timeline is destroyed. [any]
void timeline_enter(struct timeline_track *track);
struct timeline_track *timeline_mine(void);

// A track of the process of the calling thread's own one, for a thread that it begins. NULL where
// it has none, or where there is no room for another one. [any]
struct timeline_track *timeline_beside(const char *name);

// Ends the stage that the calling thread is in, if it is in one, and begins another one; NULL: none
// begins. It is a span of its track around all that follows. `name` is copied. [any]
void timeline_stage(const char *name);

// Before the program ends at once: writes what the rings of all timelines have, within a quarter of
// a second, and nothing behind it. It may be called by the handler of a signal. [any]
void timeline_settle(void);
