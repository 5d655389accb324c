// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tracer: a backend that wraps a backend and counts calls, launches and time of every op.
//
// The time of a call is the op's own: from when it was queued, or the work before it was done,
// whichever is later, to when it was done itself. A backend that notifies of points says when that
// is, and the run goes at its own speed. Any other one is waited for before and after each call,
// which makes the run slower and counts into the times: meant for runs that measure.
//
// One thread, that of the inner backend; notifications come on any thread, and touch nothing but
// the trace's own marks. Failures are those of the inner backend, beside TAPML_NO_MEMORY; a wait is
// TAPML_INTERNAL if the backend has not notified of work that it has done.
#pragma once

#include "base/status.h"
#include "base/timeline.h"
#include "device/backend.h"
#include "exec/place.h"

#include <stddef.h>

struct trace;

struct trace_line {
    const tapml_op *op;
    uint64_t calls;
    uint64_t launches;
    uint64_t time_ns;
};

// `inner` is borrowed. The caller owns the trace, whose backend is `trace_backend`; `trace_destroy`
// accepts NULL, and waits for notifications that are still to come. TAPML_NO_MEMORY is the one
// failure.
tapml_status trace_create(struct backend *inner, struct trace **out_trace) STATUS_USED;
void trace_destroy(struct trace *trace);
struct backend *trace_backend(struct trace *trace);

// The same as a link of a chain (exec/place), which owns the trace; `*out_trace` is set when the
// chain is made.
struct place_link trace_link(struct trace **out_trace);

// From now on each call is drawn on a track of a timeline (base/timeline), borrowed; NULL: none is.
void trace_draw(struct trace *trace, struct timeline_track *track);

// One line for each op that was called, in the order of their first calls. `trace_at` is valid
// until the next call. Times are complete behind a wait for all.
size_t trace_count(const struct trace *trace);
const struct trace_line *trace_at(const struct trace *trace, size_t index);

// The line of an op, valid until the next call; NULL if it was not called.
const struct trace_line *trace_find(const struct trace *trace, const tapml_op *op);
